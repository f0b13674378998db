// Constraints in the loop, in a user's configuration: a constraint that holds lets a candidate
// pass, and one that is not proven blocks the same candidate.
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <filesystem>

#include "rampart/base/file.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using test_support::run_program;

const std::string kRampart = test_support::bin_dir() + "/rampart";

std::string read(const fs::path& path) { return base::read_file(path, size_t{1} << 30).value(); }

std::string gap(double allowed) {
    return fmt::format(
        R"(abs(mean(decision | race = "white") - mean(decision | race = "black")) <= {})", allowed);
}

std::string tail(std::string_view expression) {
    return fmt::format("[[gate.constraint]]\nname = \"{}\"\nexpression = '{}'\n",
                       expression.substr(0, expression.find('(')), expression);
}

class ConstrainedLoop : public testing::Test {
  protected:
    static void TearDownTestSuite() { fs::remove_all(folder()); }
    static fs::path folder() {
        return fs::path(testing::TempDir()) / fmt::format("constrained_loop.{}", ::getpid());
    }

    /// Configuration files with a constraint and, in TOML, further ones; all runs are charged.
    static fs::path configured(const std::string& name, const std::string& expression,
                               const std::string& further = "") {
        const fs::path config = folder() / (name + ".config");
        fs::create_directories(config);
        fs::copy(test_support::source_dir() + "/ops/config", config,
                 fs::copy_options::recursive | fs::copy_options::overwrite_existing);
        const fs::path file = config / "demo" / "simulated.toml";
        EXPECT_TRUE(base::write_file_atomically(
            file,
            read(file) + fmt::format("min_power = 0\n[[gate.constraint]]\nname = \"approvals\"\n"
                                     "expression = '{}'\n{}",
                                     expression, further)));
        return config;
    }

    struct Demo {
        fs::path out;
        json::array runs;
    };
    static Demo run_demo(const std::string& name, const std::string& expression,
                         const std::string& further = "") {
        Demo demo{folder() / name, {}};
        const auto ran = run_program(fmt::format(
            "{}-demo --data simulated --rows 6000 --seed 1 --program {} --config-dir {} --out {}",
            kRampart, kRampart, configured(name, expression, further).string(), demo.out.string()));
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        if (ran.exit_code == 0) {
            demo.runs = json::parse(read(demo.out / "report.json")).at("gate_runs").as_array();
        }
        return demo;
    }
};

TEST_F(ConstrainedLoop, WhatHoldsLetsACandidateThroughWhatIsNotProvedBlocksIt) {
    const std::string by_name = R"(approval_rate_gap("race=white", "race=black", 0.5))";
    const std::string tails = tail("cvar(impact, 0.5) >= -149") +
                              tail("quantile(impact, 0.5) >= -149") +
                              tail("mean(impact <= -100 | race = \"white\") <= 0.9");
    const Demo open = run_demo("open", by_name, tails), blocked = run_demo("blocked", gap(0.001));
    const auto certified = std::find_if(open.runs.begin(), open.runs.end(), [](const auto& run) {
        return run.at("verdict").as_string() == "CERTIFIED";
    });
    ASSERT_NE(certified, open.runs.end()) << "nothing was certified at all";
    const auto place = static_cast<size_t>(certified - open.runs.begin());
    ASSERT_LT(place, blocked.runs.size());
    EXPECT_EQ(blocked.runs[place].at("time"), certified->at("time"));
    EXPECT_EQ(blocked.runs[place].at("verdict").as_string(), "NO_SOLUTION_FOUND");
    for (const auto& run : blocked.runs) EXPECT_NE(run.at("verdict").as_string(), "CERTIFIED");

    const auto verify_all = [](const Demo& demo, const std::string& says) {
        bool found = false;
        for (const auto& entry : fs::directory_iterator(demo.out / "certificates")) {
            if (entry.path().extension() != ".cert") continue;
            const fs::path page = folder() / "page.html";
            const auto ran = run_program(fmt::format("{} verify {} --html {}", kRampart,
                                                     entry.path().string(), page.string()));
            EXPECT_EQ(ran.exit_code, 0) << ran.output;
            const std::string html = read(page);
            found = found || (html.find("<h2>Constraints</h2>") != std::string::npos &&
                              html.find(says) != std::string::npos);
        }
        return found;
    };
    EXPECT_TRUE(verify_all(open, "on average, the constraints hold: approvals (abs(mean("));
    EXPECT_TRUE(verify_all(open, "&lt;= 0.5"));
    EXPECT_TRUE(verify_all(open, "cvar(impact, 0.5) &gt;= -149"));
    EXPECT_TRUE(verify_all(blocked, "at least one group or constraint did not pass"));
}

TEST_F(ConstrainedLoop, ATailThatIsNotProvedBlocksEveryCandidate) {
    const Demo blocked = run_demo("tail", gap(0.5), tail("cvar(impact, 0.1) >= 0"));
    ASSERT_FALSE(blocked.runs.empty());
    bool charged = false;
    for (const auto& run : blocked.runs) {
        EXPECT_NE(run.at("verdict").as_string(), "CERTIFIED");
        charged = charged || run.at("verdict").as_string() == "NO_SOLUTION_FOUND";
    }
    EXPECT_TRUE(charged) << "no run came to the test of the tail";
}

TEST_F(ConstrainedLoop, AConstraintThatCannotBeReadOrAskedStopsTheStartAndSaysWhere) {
    const auto start = [](const std::string& name, const std::string& expression) {
        const fs::path config = configured(name, expression);
        fs::copy_file(config / "products" / "simulated.toml", config / "product.toml");
        EXPECT_TRUE(
            base::write_file_atomically(config / "schema.toml",
                                        "label = \"y\"\nfavourable = \"0\"\n[[feature]]\nname = "
                                        "\"score\"\nkind = \"numeric\"\n"));
        fs::copy_file(config / "demo" / "simulated.toml", config / "rampartd.toml",
                      fs::copy_options::overwrite_existing);
        return run_program(
            fmt::format("{} serve --config {}", kRampart, (config / "rampartd.toml").string()));
    };
    auto ran = start("syntax", "mean(decision) > 0");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.output.find("column 16"), std::string::npos) << ran.output;
    ran = start("name", "mean(decision | income > 3) >= 0");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_NE(ran.output.find("constraint 'approvals': there is no feature and no protected "
                              "attribute 'income'"),
              std::string::npos)
        << ran.output;
    ran = start("value", "mean(decision | race = \"F\") >= 0");
    EXPECT_NE(ran.output.find("its values are: white, black, hispanic, asian"), std::string::npos)
        << ran.output;
}

}  // namespace
}  // namespace rampart
