#include "services/rampartd/explanation_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>

#include "rampart/notices/reasons.hpp"

namespace rampart::rampartd {
namespace {

using notices::Cited;
using notices::Direction;
using testing::HasSubstr;
using testing::Not;

/// A decline for an income of 1234 (of the reference row: 56789) and a missing age.
DecisionExplanation sample() {
    DecisionExplanation of;
    of.decision.id = domain::DecisionId("d-1");
    of.decision.draw = 0.75;
    of.decision.p_approve = of.decision.p_exploit = 0.25;
    of.decision.application.features = {{"income", 1234.0}, {"age", std::monostate{}}};
    of.features = {{"income", dataset::FeatureKind::kNumeric, {}},
                   {"age", dataset::FeatureKind::kNumeric, {}}};
    of.row = {1234, std::nanf("")};
    of.nearest = {56789, 40};
    of.units = {{"income", {0}}, {"age", {1}}};
    of.steps = {{.link = 1, .bootstrap = true, .rule = 0.5, .approve = 0.5, .exploit = 0.5},
                {.link = 2, .score = 0.1, .lo = 0.25, .hi = 0.75, .approve = 0.25}};
    of.reference.width = 2;
    of.reference.rows = of.nearest;
    of.values = {{0.25, 0.5}, {0, 0}, 0.25, 1, true};
    of.cited =
        attribution::Cited{.units = {1, 0}, .p_restored = 1, .p_reference = 1, .reaches = true};
    return of;
}

TEST(ExplanationDocument, TheCitedReasonsAreReadAsTheyWereWritten) {
    EXPECT_EQ(cited_in(to_json(sample())).value(),
              (std::vector<Cited>{{"age", Direction::kMissing}, {"income", Direction::kLow}}));
    auto approved = sample();
    approved.cited.reset();
    EXPECT_EQ(cited_in(to_json(approved)).value(), std::vector<Cited>());
    auto grouped = sample();
    grouped.units = {{"all", {0, 1}}};
    grouped.values = {{0.75}, {0}, 0.25, 1, true};
    grouped.cited->units = {0};
    EXPECT_EQ(cited_in(to_json(grouped)).value(), (std::vector<Cited>{{"all", Direction::kAny}}));
}

TEST(ExplanationDocument, ItHasEachStepAndNoValueOfAnApplicant) {
    const auto document = to_json(sample());
    EXPECT_THAT(document, HasSubstr("Link 1, the declared rule: P(approve) 0.5000."));
    EXPECT_THAT(document, HasSubstr("held by the trust region from 0.2500 to 0.7500"));
    EXPECT_THAT(document, HasSubstr("The draw 0.7500 is not below P(approve) 0.2500: decline."));
    EXPECT_THAT(document, HasSubstr("Reasons: age, income."));
    EXPECT_THAT(document, HasSubstr(R"("held":true)"));
    for (const char* value : {"1234", "56789", "1.234E", "5.6789E"})
        EXPECT_THAT(document, Not(HasSubstr(value)));
}

/// Returns a member of the document's part on the decline.
double number_of(const DecisionExplanation& of, std::string_view name) {
    const auto document = boost::json::parse(to_json(of));
    return document.at("decline").at(name).to_number<double>();
}

// where a rule reads one feature, all digits of another applicant's P would give its value of it
TEST(ExplanationDocument, AnotherApplicantsPIsInHundredthsRoundedDown) {
    auto of = sample();
    of.reference.lowest = 0.987654321;
    of.cited->p_reference = 0.987654321;
    of.cited->p_restored = 0.876543219;
    const auto document = to_json(of);
    for (const char* digits : {"0.9876", "9.876", "0.8765", "8.765"})
        EXPECT_THAT(document, Not(HasSubstr(digits)));
    EXPECT_EQ(number_of(of, "p_reference"), 0.98);
    EXPECT_EQ(number_of(of, "p_restored"), 0.87);
    EXPECT_THAT(document, HasSubstr(R"("lowest_p":9.8E-1)"));
    EXPECT_THAT(document, HasSubstr("P(approve) is at least 0.8700, above the draw"));

    of.cited->p_restored = 0.7512;  // what is known of it is not taken back
    EXPECT_EQ(number_of(of, "p_restored"), 0.75);
    of.decision.draw = 0.7509;
    EXPECT_EQ(number_of(of, "p_restored"), 0.7509);
    of.cited->reaches = false;
    of.decision.draw = 0.8;
    EXPECT_EQ(number_of(of, "p_restored"), 0.75);
    of.cited->p_restored = of.decision.p_approve = 0.2589;
    EXPECT_EQ(number_of(of, "p_restored"), 0.2589);
    of.cited->p_restored = 1;
    EXPECT_EQ(number_of(of, "p_restored"), 1);
    of.cited->p_reference = 0.57;  // 100 · 0.57 is a little below 57
    EXPECT_EQ(number_of(of, "p_reference"), 0.57);
}

TEST(ExplanationDocument, WhatAnotherReleaseWroteIsNotGuessedAt) {
    for (const char* document :
         {"", "[]", "{", R"({"decline":7})", R"({"decline":{}})", R"({"decline":{"reasons":[7]}})",
          R"({"decline":{"reasons":[{"unit":"age"}]}})",
          R"({"decline":{"reasons":[{"unit":"age","direction":"odd"}]}})",
          R"({"decline":{"reasons":[{"unit":1,"direction":"low"}]}})"}) {
        const auto cited = cited_in(document);
        ASSERT_FALSE(cited) << document;
        EXPECT_TRUE(cited.error().is(notices::Reason::kUnknownCode));
    }
}

}  // namespace
}  // namespace rampart::rampartd
