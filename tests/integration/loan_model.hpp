#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "rampart/base/random.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

/// A table of loans and a model trained on it, for tests of commands that show models.
namespace rampart {

/// Loans: income predicts repayment, region a little; noise has no information; sex b earns less.
inline std::string loans(size_t n, uint64_t seed) {
    base::Random random(seed);
    std::string csv = "income,noise,region,sex,repaid\n";
    for (size_t i = 0; i < n; ++i) {
        const bool b = random.bernoulli(0.4), north = random.bernoulli(0.5);
        const double income = 50 + 10 * random.normal() - (b ? 8 : 0);
        const double pull = (income - 45) / 5 + (north ? 0.7 : -0.7);
        const bool repaid = random.bernoulli(1 / (1 + std::exp(-pull)));
        const auto cell = i % 20 == 4 ? std::string() : fmt::format("{:.2f}", income);
        csv +=
            fmt::format("{},{:.2f},{},{},{}\n", cell, random.normal(),
                        north ? "north" : "\"south, <far>\"", b ? "b" : "a", repaid ? "yes" : "no");
    }
    return csv;
}

/// loans.csv, schema.toml and m.rmp, made once for all tests.
class LoanModel : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        const auto* suite = testing::UnitTest::GetInstance()->current_test_suite();
        folder_ = std::filesystem::path(testing::TempDir()) /
                  fmt::format("rampart-{}-{}", suite->name(), getpid());
        std::filesystem::create_directories(folder_);
        std::ofstream(folder_ / "loans.csv") << loans(1500, 5);
        std::ofstream(folder_ / "other.csv") << loans(300, 6);
        ASSERT_EQ(run("schema infer loans.csv --label repaid --favourable yes --protected sex "
                      "> schema.toml")
                      .exit_code,
                  0);
        const auto trained =
            run("train --data loans.csv --schema schema.toml --seed 7 --trees 40 "
                "--leaves 8 --out m.rmp");
        ASSERT_EQ(trained.exit_code, 0) << trained.output;
    }
    static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

    static test_support::Ran run(const std::string& arguments) {
        return test_support::run_program(fmt::format("cd '{}' && '{}/rampart' {}", folder_.string(),
                                                     test_support::bin_dir(), arguments));
    }
    static std::string read(const std::string& name) {
        std::stringstream text;
        text << std::ifstream(folder_ / name).rdbuf();
        return text.str();
    }

    static inline std::filesystem::path folder_;
};

}  // namespace rampart
