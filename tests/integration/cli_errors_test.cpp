#include "command_line.hpp"
#include "support/places.hpp"

namespace rampart::cli_tests {
namespace {

using testing::HasSubstr;

class Errors : public CommandLine {};

TEST_F(Errors, AWordIsLookedUp) {
    const auto ran = run("errors retention_gap");
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("retention_gap (room streaming): data_loss, HTTP status 500, "
                                   "exit code 4\n  Accept the gap"));
    const auto found = run("errors retention_gap --json").json().at("errors").as_array();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].at("code").as_string(), "data_loss");
    EXPECT_EQ(found[0].at("http_status").as_int64(), 500);
    EXPECT_EQ(found[0].at("exit_code").as_int64(), 4);
}

TEST_F(Errors, AnUnknownWordIsRefusedWithTheNearOnes) {
    const auto ran = run("errors retension_gap");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("near ones are retention_gap"));
}

TEST_F(Errors, WhatWasGivenMovesNoCursorWhenItIsPrinted) {
    const auto ran = run("errors 'retension_gap\x1b[2J'");
    EXPECT_EQ(ran.exit_code, 2);
    EXPECT_THAT(ran.err, HasSubstr("retension_gap\\x1b[2J"));
    EXPECT_EQ(ran.err.find('\x1b'), std::string::npos) << ran.err;
}

TEST_F(Errors, WithoutAWordThePageIsPrinted) {
    std::stringstream page;
    page << std::ifstream(test_support::source_dir() + "/schemas/errors.md").rdbuf();
    EXPECT_EQ(run("errors").out, page.str());
    EXPECT_GT(run("errors --json").json().at("errors").as_array().size(), 500u);
}

/// An error that a command gives is in the table, with the exit code that it ended with.
TEST_F(Errors, WhatACommandFailsWithIsInTheTable) {
    const auto failed = run("models --store nowhere --json");
    const std::string reason(failed.json().at("error").at("reason").as_string());
    const auto found = run("errors " + reason + " --json").json().at("errors").as_array();
    ASSERT_FALSE(found.empty());
    const bool same = std::any_of(found.begin(), found.end(), [&](const auto& entry) {
        return entry.at("exit_code").as_int64() == failed.exit_code &&
               entry.at("code") == failed.json().at("error").at("code");
    });
    EXPECT_TRUE(same) << reason;
}

}  // namespace
}  // namespace rampart::cli_tests
