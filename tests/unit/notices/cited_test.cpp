#include "rampart/notices/cited.hpp"

#include <gtest/gtest.h>

#include "notice_makers.hpp"
#include "rampart/notices/reasons.hpp"

namespace rampart::notices {
namespace {

using testing::decline;
using testing::drawn;

std::vector<Cited> cited(const domain::Decision& decision, const model::Policy& policy) {
    const auto found = cited_features(decision, policy);
    EXPECT_TRUE(found) << found.error().message;
    return found.value_or(std::vector<Cited>());
}

TEST(CitedTest, FeaturesComeInTheirOrderWithTheDirectionOfTheApplicantsValue) {
    auto decision = decline({"feature.annual_income", "feature.loan_amount", "feature.score",
                             "feature.inquiries_6m", "random_draw_in_ramp"});
    auto& features = decision.application.features;
    features[1].value = 99.0;
    features[7].value = 101.0;
    features[0].value = std::monostate{};
    features[5].value = 100.0;
    EXPECT_EQ(cited(decision, testing::learned_policy()),
              (std::vector<Cited>{{"annual_income", Direction::kLow},
                                  {"loan_amount", Direction::kHigh},
                                  {"score", Direction::kMissing},
                                  {"inquiries_6m", Direction::kAny}}));
}

TEST(CitedTest, OfARuleTheSlopeSaysWhichValuesItDeclines) {
    const auto decision = decline({"feature.score"});
    const auto direction = [&](std::vector<std::pair<double, double>> points) {
        return cited(decision, testing::rule(std::move(points))).at(0).direction;
    };
    EXPECT_EQ(direction({{0, 0.1}, {10, 0.1}, {100, 0.9}}), Direction::kLow);
    EXPECT_EQ(direction({{0, 0.9}, {100, 0.2}}), Direction::kHigh);
    EXPECT_EQ(direction({{0, 0.1}, {50, 0.9}, {100, 0.2}}), Direction::kAny);
}

TEST(CitedTest, AScoreIsNoFeatureAndAnUnknownCodeIsNotPassedOver) {
    EXPECT_TRUE(cited(decline({"score_too_low"}), testing::learned_policy()).empty());
    const auto unknown =
        cited_features(decline({"feature.score", "among_others"}), testing::learned_policy());
    ASSERT_FALSE(unknown);
    EXPECT_TRUE(unknown.error().is(Reason::kUnknownCode));
    // a feature that the policy of today does not have is cited, too
    EXPECT_EQ(cited(decline({"feature.gone"}), testing::learned_policy()),
              (std::vector<Cited>{{"gone", Direction::kAny}}));
}

TEST(CitedTest, ThePartOfTheDrawFollowsFromTheProbabilities) {
    const auto decision = decline({"feature.score"});
    EXPECT_EQ(draw_part(drawn(decision, 0, 0, 0.7)), DrawPart::kNone);
    EXPECT_EQ(draw_part(drawn(decision, 0, 0.1, 0.7)), DrawPart::kNone) << "exploration approves";
    EXPECT_EQ(draw_part(drawn(decision, 0.6, 0.6, 0.7)), DrawPart::kPart);
    EXPECT_EQ(draw_part(drawn(decision, 1, 0.9, 0.95)), DrawPart::kAlone) << "it declines";
    auto referred = decision;
    referred.p_refer = 0.2;
    EXPECT_EQ(draw_part(referred), DrawPart::kPart) << "people could have been asked";
}

}  // namespace
}  // namespace rampart::notices
