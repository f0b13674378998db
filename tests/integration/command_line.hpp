#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "rampart/base/random.hpp"
#include "support/places.hpp"

namespace rampart::cli_tests {

/// Runs the program as a user does, in a folder of the test.

struct Ran {
    int exit_code = -1;
    std::string out, err;
    boost::json::object json() const { return boost::json::parse(out).as_object(); }
};

class CommandLine : public testing::Test {
  protected:
    void SetUp() override {
        const auto* test = testing::UnitTest::GetInstance()->current_test_info();
        folder_ = std::filesystem::path(testing::TempDir()) /
                  fmt::format("rampart-cli-{}-{}", test->name(), getpid());
        std::filesystem::create_directories(folder_);
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string path(const std::string& name) const { return (folder_ / name).string(); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream(path(name)) << text;
    }

    std::string read(const std::string& name) const {
        std::stringstream text;
        text << std::ifstream(path(name)).rdbuf();
        return text.str();
    }

    /// Runs the program in the folder of the test.
    Ran run(const std::string& arguments) const {
        const auto command = fmt::format("cd '{}' && '{}/rampart' {} > .out 2> .err",
                                         folder_.string(), test_support::bin_dir(), arguments);
        const int status = std::system(command.c_str());
        Ran ran;
        ran.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        ran.out = read(".out");
        ran.err = read(".err");
        return ran;
    }

    /// n loans: income predicts repayment; sex b earns less and repays less; region is a category.
    std::string loans(size_t n) const {
        base::Random random(5);
        std::string csv = "id,income,region,sex,repaid\n";
        for (size_t i = 0; i < n; ++i) {
            const bool b = random.bernoulli(0.4);
            const double income = 50 + 10 * random.normal() - (b ? 8 : 0);
            const char* region = random.bernoulli(0.5) ? "north" : "south, far";
            const double pull = (income - 45) / 6 + (region[0] == 'n' ? 0.5 : -0.5);
            const bool repaid = random.bernoulli(1 / (1 + std::exp(-pull)));
            const auto cell =
                random.bernoulli(0.05) ? std::string() : fmt::format("{:.2f}", income);
            csv += fmt::format("{},{},\"{}\",{},{}\n", 1000 + i, cell, region, b ? "b" : "a",
                               repaid ? "yes" : "no");
        }
        return csv;
    }

    /// loans.csv, schema.toml and a trained m.rmp.
    void train(const std::string& options = "", size_t n = 1500) const {
        write("loans.csv", loans(n));
        const auto schema =
            run("schema infer loans.csv --label repaid --favourable yes --protected sex");
        ASSERT_EQ(schema.exit_code, 0) << schema.err;
        write("schema.toml", schema.out);
        const auto ran =
            run("train --data loans.csv --schema schema.toml --split 60/20/20 --seed 7 "
                "--trees 40 --leaves 8 --out m.rmp " +
                options);
        ASSERT_EQ(ran.exit_code, 0) << ran.err;
    }

    std::filesystem::path folder_;
};

/// With loans.csv and its schema.toml; nothing is trained.
class TrainCommand : public CommandLine {
  protected:
    void SetUp() override {
        CommandLine::SetUp();
        write("loans.csv", loans(800));
        const auto schema = run(
            "schema infer loans.csv --label repaid --favourable yes --protected sex --ignore id");
        ASSERT_EQ(schema.exit_code, 0) << schema.err;
        write("schema.toml", schema.out);
    }
    Ran train_by(const std::string& how, const std::string& out = "m.rmp") const {
        return run("train --data loans.csv --schema schema.toml --seed 7 --out " + out + " " + how);
    }
};

inline double number(const boost::json::object& json, std::string_view key) {
    return json.at(key).to_number<double>();
}

}  // namespace rampart::cli_tests
