// `rampart explain --decision`: P from link to link, what lowers it, and why a decline came about.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>

#include "demo_store.hpp"

namespace rampart {
namespace {

namespace json = boost::json;
using test_support::DemoStore;
using test_support::Ran;
using testing::HasSubstr;

class ExplainDecision : public testing::Test, public DemoStore {
  protected:
    static void SetUpTestSuite() { make("explain_decision_test"); }
    static void TearDownTestSuite() { remove(); }

    static Ran explain(const std::string& arguments) {
        return rampart("explain --config a/rampartd.toml " + arguments);
    }
    static json::object explained(const std::string& id, const std::string& more = "") {
        const auto ran = explain("--decision " + id + " --json " + more + " 2>/dev/null || false");
        EXPECT_EQ(ran.exit_code, 0) << ran.output;
        return json::parse(ran.output).as_object();
    }
    static double number(const json::object& from, const char* name) {
        return from.at(name).to_number<double>();
    }
    /// The ids of some of the last decisions.
    static std::vector<std::string> last_ids(size_t most) {
        const std::string log = "inspect log --store a/store --topic decisions --json ";
        const auto end = json::parse(rampart(log + "--limit 1 2>/dev/null || false").output)
                             .at("end_offset")
                             .to_number<int64_t>();
        const auto from = std::max<int64_t>(0, end - static_cast<int64_t>(most));
        const auto listed = json::parse(
            rampart(log + fmt::format("--from {} --limit {} 2>/dev/null || false", from, most))
                .output);
        std::vector<std::string> ids;
        for (const auto& record : listed.at("records").as_array())
            ids.emplace_back(record.at("key").as_string());
        return ids;
    }
};

TEST_F(ExplainDecision, TheLinksEndAtTheDrawnPAndTheValuesSumToTheDifference) {
    size_t declined = 0, cited = 0, chains = 0;
    const auto ids = last_ids(24);
    ASSERT_GE(ids.size(), 8u);
    for (const auto& id : ids) {
        const auto out = explained(id);
        const auto& links = out.at("links").as_array();
        chains += links.size() > 1;
        EXPECT_EQ(links.front().at("kind"), "bootstrap");
        const bool spent = out.at("exploration_spent").as_bool();
        EXPECT_EQ(links.back().at(spent ? "p_exploit" : "p_approve").to_number<double>(),
                  number(out, "p_approve"));
        double sum = 0;
        for (const auto& one : out.at("contributions").as_array())
            sum += one.at("lowers_p_by").to_number<double>();
        const auto& reference = out.at("reference").as_object();
        EXPECT_NEAR(sum, number(reference, "mean_p") - number(out, "p_approve"), 1e-9);
        const bool below = number(out, "draw") < number(out, "p_approve");
        EXPECT_EQ(out.at("action"), below ? "approve" : "decline");
        EXPECT_EQ(out.contains("decline"), !below);
        if (below) continue;
        ++declined;
        const auto& decline = out.at("decline").as_object();
        cited += !decline.at("reasons").as_array().empty();
        EXPECT_EQ(decline.at("reaches_draw").as_bool(),
                  number(decline, "p_restored") > number(out, "draw"));
        EXPECT_GE(number(decline, "p_restored"), number(out, "p_approve"));
        const auto text = explain("--decision " + id).output;
        EXPECT_THAT(text, HasSubstr("declined by"));
        EXPECT_THAT(text, HasSubstr("is not below P(approve)"));
        EXPECT_THAT(text, HasSubstr(std::string(reference.at("hmac_sha256").as_string())));
    }
    EXPECT_GT(declined, 0u);
    EXPECT_GT(cited, 0u);
    EXPECT_GT(chains, 0u);
}

TEST_F(ExplainDecision, TheSameStoreGivesTheSameAnswerAndGroupsOfFeaturesAreOneUnit) {
    const auto id = last_ids(1).at(0);
    const auto one = explained(id);
    EXPECT_EQ(one, explained(id));
    const auto grouped = explained(id, "--feature-group 'the whole application=*'");
    ASSERT_EQ(grouped.at("contributions").as_array().size(), 1u);
    EXPECT_EQ(grouped.at("contributions").at(0).at("unit"), "the whole application");
    EXPECT_NEAR(grouped.at("contributions").at(0).at("lowers_p_by").to_number<double>(),
                number(grouped.at("reference").as_object(), "mean_p") - number(one, "p_approve"),
                1e-9);
}

TEST_F(ExplainDecision, WhatCannotBeExplainedIsRefused) {
    EXPECT_EQ(explain("--decision none").exit_code, 2);
    EXPECT_THAT(explain("--decision none").output, HasSubstr("no decision 'none'"));
    const auto id = last_ids(1).at(0);
    const auto odd = explain("--decision " + id + " --feature-group pay=no_such_*");
    EXPECT_EQ(odd.exit_code, 2);
    EXPECT_THAT(odd.output, HasSubstr("no_such_*"));
    EXPECT_EQ(explain("--decision " + id + " --feature-group pay").exit_code, 2);
    EXPECT_EQ(explain("--decision " + id + " --model m.rmp").exit_code, 2);
    EXPECT_EQ(rampart("explain --decision " + id).exit_code, 2);
    EXPECT_THAT(rampart("explain --model m.rmp").output, HasSubstr("--decision"));
}

}  // namespace
}  // namespace rampart
