#include "services/rampartd/explanation_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
