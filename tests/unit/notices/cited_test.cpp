#include "rampart/notices/cited.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "notice_makers.hpp"

namespace rampart::notices {
namespace {

using testing::decline;
using testing::drawn;

TEST(CitedTest, TheDirectionIsThatOfTheApplicantsValueAgainstTheReferenceRow) {
    const dataset::FeatureSpec income{"annual_income", dataset::FeatureKind::kNumeric, {}};
    auto application = decline({}).application;
    const float nan = std::nanf("");
    EXPECT_EQ(direction_of(income, application, 50, 100), Direction::kLow);
    EXPECT_EQ(direction_of(income, application, 150, 100), Direction::kHigh);
    EXPECT_EQ(direction_of(income, application, 100, 100), Direction::kAny);
    EXPECT_EQ(direction_of(income, application, 50, nan), Direction::kAny);
    application.features[1].value = std::monostate{};
    EXPECT_EQ(direction_of(income, application, nan, 100), Direction::kMissing);
    EXPECT_EQ(direction_of({"gone", dataset::FeatureKind::kNumeric, {}}, application, 1, 2),
              Direction::kAny);
}

TEST(CitedTest, ACategoryHasNoDirectionAndAnUnknownOneIsNotMissing) {
    const dataset::FeatureSpec housing{
        "housing", dataset::FeatureKind::kCategorical, {"rent", "own"}};
    auto application = decline({}).application;
    application.features[8].value = std::string("caravan");
    EXPECT_EQ(direction_of(housing, application, std::nanf(""), 1), Direction::kAny);
    EXPECT_EQ(direction_of(housing, application, 0, 1), Direction::kAny);
    application.features[8].value = std::monostate{};
    EXPECT_EQ(direction_of(housing, application, std::nanf(""), 1), Direction::kMissing);
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
