#include "rampart/budro/baselines.hpp"

#include <gtest/gtest.h>

namespace rampart::budro {
namespace {

TEST(Reweigh, MakesLabelAndGroupIndependentAndKeepsTheirShares) {
    dataset::Dataset data;
    data.group_names = {"a", "b", "nobody"};
    data.group = {0, 0, 0, 0, 1, 1};
    data.label = {1, 1, 1, 0, 1, 0};
    data.weight = {1, 1, 2, 1, 1, 3};
    const auto weights = reweigh(data);
    ASSERT_TRUE(weights);
    double cell[2][2] = {}, total = 0;
    for (size_t i = 0; i < 6; ++i) {
        cell[data.group[i]][data.label[i]] += static_cast<double>((*weights)[i]);
        total += static_cast<double>((*weights)[i]);
    }
    EXPECT_NEAR(total, 9, 1e-6);
    EXPECT_NEAR(cell[0][0] + cell[0][1], 5, 1e-6);
    EXPECT_NEAR(cell[0][1] + cell[1][1], 5, 1e-6);
    EXPECT_NEAR(cell[0][1] / 5, cell[1][1] / 4, 1e-6);
    // by hand: group b, label 1: weight 1 of 9, expected 4·5/9
    EXPECT_NEAR((*weights)[4], 20.0 / 9, 1e-6);
}

TEST(Reweigh, AGroupWithOneLabelKeepsItsWeightInAll) {
    dataset::Dataset data;
    data.group_names = {"a", "b"};
    data.group = {0, 0, 1};
    data.label = {1, 0, 1};
    const auto weights = reweigh(data).value();
    EXPECT_NEAR(weights[2], 2.0 / 3, 1e-6);
}

TEST(Reweigh, NeedsGroups) {
    dataset::Dataset data;
    data.label = {1, 0};
    EXPECT_EQ(reweigh(data).error().reason, "no_groups");
}

}  // namespace
}  // namespace rampart::budro
