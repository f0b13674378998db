#include "rampart/budro/points.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "rampart/base/limits.hpp"

namespace rampart::budro {
namespace {

TEST(BudroPoints, ADistanceIsTheSumOfSquaredDifferences) {
    const Points points{2, 3, {1, 2, 3, 4, 2, -1}};
    EXPECT_EQ(squared_distance(points.row(0), points.row(1)), 9 + 0 + 16);
    EXPECT_EQ(squared_distance(points.row(1), points.row(0)), 25);
    EXPECT_EQ(squared_distance(points.row(1), points.row(1)), 0);
}

TEST(BudroPoints, WithoutDimensionsEverybodyIsAlike) {
    const Points points{2, 0, {}};
    EXPECT_TRUE(validate(points));
    EXPECT_EQ(squared_distance(points.row(0), points.row(1)), 0);
}

TEST(BudroPoints, WhatCannotBeMeasuredIsRefused) {
    EXPECT_EQ(validate(Points{}).error().reason, "no_rows");
    EXPECT_EQ(validate(Points{2, 2, {1, 2, 3}}).error().reason, "bad_size");
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    const auto missing = validate(Points{2, 2, {1, 2, kNan, 4}});
    EXPECT_EQ(missing.error().reason, "bad_coordinate");
    EXPECT_NE(missing.error().message.find("point 1, dimension 0"), std::string::npos);
    EXPECT_TRUE(validate(Points{1, 1, {kMostCoordinate}}));
    EXPECT_EQ(validate(Points{1, 1, {kMostCoordinate * 1.01}}).error().reason, "bad_coordinate");
}

TEST(BudroPoints, DimensionsHaveALimit) {
    constexpr size_t kMost = base::limits::kMaxFeatures;
    EXPECT_TRUE(validate(Points{1, kMost, std::vector<double>(kMost)}));
    EXPECT_EQ(validate(Points{1, kMost + 1, std::vector<double>(kMost + 1)}).error().reason,
              "too_large");
}

}  // namespace
}  // namespace rampart::budro
