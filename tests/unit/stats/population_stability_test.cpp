#include "rampart/stats/population_stability.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace rampart::stats {
namespace {

TEST(PopulationStability, IsTheSumOverShares) {
    const std::vector<double> first{2, 6, 2}, second{30, 50, 20};
    const double by_hand = (0.3 - 0.2) * std::log(0.3 / 0.2) + (0.5 - 0.6) * std::log(0.5 / 0.6);
    EXPECT_NEAR(population_stability(first, second), by_hand, 1e-15);
    EXPECT_NEAR(population_stability(second, first), by_hand, 1e-15) << "it has no direction";
    EXPECT_EQ(population_stability(first, first), 0);
}

TEST(PopulationStability, AnEmptyBinCountsAsATenThousandth) {
    const std::vector<double> first{1, 1, 0}, second{1, 0, 0};
    EXPECT_NEAR(population_stability(first, second),
                0.5 * std::log(2) + (1e-4 - 0.5) * std::log(1e-4 / 0.5), 1e-12);
    const std::vector<double> none{0, 0, 0};
    EXPECT_EQ(population_stability(first, none), 0);
    EXPECT_EQ(population_stability({}, {}), 0);
}

TEST(PopulationStability, ChanceGivesWhatIsSaid) {
    constexpr int kBins = 10, kFirst = 4000, kSecond = 1000, kTimes = 2000;
    std::mt19937_64 random(7);
    std::uniform_int_distribution<size_t> bin(0, kBins - 1);
    double sum = 0;
    for (int k = 0; k < kTimes; ++k) {
        std::vector<double> first(kBins), second(kBins);
        for (int i = 0; i < kFirst; ++i) ++first[bin(random)];
        for (int i = 0; i < kSecond; ++i) ++second[bin(random)];
        sum += population_stability(first, second);
    }
    const double expected = stability_by_chance(kBins, kFirst, kSecond);
    EXPECT_NEAR(expected, 9 * (1.0 / kFirst + 1.0 / kSecond), 1e-15);
    // twice a chi-squared of 9 degrees of freedom has a relative deviation of sqrt(2 / 9)
    EXPECT_NEAR(sum / kTimes, expected,
                4 * expected * std::sqrt(2.0 / 9 / kTimes) + 0.02 * expected);
}

}  // namespace
}  // namespace rampart::stats
