// The alert rules are valid, and each fires where it should and keeps silent where it should.
#include <gtest/gtest.h>

#include <string>

#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart {
namespace {

using test_support::run_program;

const std::string kAlerts = test_support::source_dir() + "/ops/alerts/";

class AlertRules : public testing::Test {
  protected:
    void SetUp() override {
        if (run_program("promtool --version").exit_code != 0)
            GTEST_SKIP() << "there is no promtool: ops/setup installs it";
    }
};

TEST_F(AlertRules, AreValid) {
    const auto checked = run_program("promtool check rules " + kAlerts + "rampart.rules.yml");
    EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

TEST_F(AlertRules, FireAndKeepSilentAsTheirTestsSay) {
    const auto tested = run_program("promtool test rules " + kAlerts + "rampart.test.yml");
    EXPECT_EQ(tested.exit_code, 0) << tested.output;
}

}  // namespace
}  // namespace rampart
