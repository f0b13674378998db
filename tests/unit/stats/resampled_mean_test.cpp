#include "rampart/stats/resampled_mean.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace rampart::stats {
namespace {

TEST(ResampledMean, IsTheCorrectedTInterval) {
    const std::vector<double> figures{0.70, 0.72, 0.74, 0.76, 0.78};
    const auto found = resampled_mean(figures, 0.25, 0.95);
    ASSERT_TRUE(found && found->interval);
    EXPECT_NEAR(found->mean, 0.74, 1e-12);
    EXPECT_NEAR(found->spread, std::sqrt(0.001), 1e-12);
    // t of 4 degrees of freedom at 0.975: 2.776445
    EXPECT_NEAR(found->interval->hi - 0.74, 2.776445 * std::sqrt(0.001 * (0.2 + 0.25)), 1e-7);
    EXPECT_NEAR(0.74 - found->interval->lo, found->interval->hi - 0.74, 1e-12);
}

TEST(ResampledMean, WithoutTestRowsItIsThatOfIndependentFigures) {
    const std::vector<double> figures{1, 3};
    const auto found = resampled_mean(figures, 0, 0.5);
    ASSERT_TRUE(found && found->interval);
    EXPECT_NEAR(found->interval->hi, 3, 1e-9);  // t of 1 degree of freedom at 0.75: 1
}

TEST(ResampledMean, OneFigureHasNoIntervalAndNoneNoMean) {
    const std::vector<double> one{0.5};
    const auto found = resampled_mean(one, 0.25, 0.95);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->mean, 0.5);
    EXPECT_EQ(found->spread, 0);
    EXPECT_FALSE(found->interval);
    EXPECT_FALSE(resampled_mean({}, 0.25, 0.95));
}

}  // namespace
}  // namespace rampart::stats
