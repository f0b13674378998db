#include "rampart/decision/chance_codes.hpp"

#include <gtest/gtest.h>

namespace rampart::decision {
namespace {

using Codes = std::vector<std::string>;

Codes codes(double exploit, double approve, double draw) {
    return chance_codes({.exploit = exploit, .approve = approve}, approve, draw);
}

TEST(ChanceCodes, TheySayWhatPartTheDrawHadAndNothingOfFeatures) {
    EXPECT_EQ(codes(0, 0, 0.7), Codes());
    EXPECT_EQ(codes(0.6, 0.6, 0.7), Codes{"random_draw_in_ramp"});
    EXPECT_EQ(codes(0, 0.1, 0.7), Codes{"random_exploration_not_drawn"});
    EXPECT_EQ(codes(0.5, 0.55, 0.7),
              (Codes{"random_draw_in_ramp", "random_exploration_not_drawn"}));
    EXPECT_EQ(codes(1, 0.9, 0.95), Codes{"random_exploration_declined"});
}

TEST(ChanceCodes, CodesOfEarlierReleasesAreKnownByFeaturesAndScores) {
    EXPECT_TRUE(names_features(Codes{"feature.age", "random_draw_in_ramp"}));
    EXPECT_TRUE(names_features(Codes{"score_too_low"}));
    EXPECT_FALSE(names_features(Codes()));
    EXPECT_FALSE(names_features(Codes{"random_draw_in_ramp", "random_exploration_not_drawn"}));
    EXPECT_FALSE(names_features(Codes{"random_exploration_declined"}));
}

}  // namespace
}  // namespace rampart::decision
