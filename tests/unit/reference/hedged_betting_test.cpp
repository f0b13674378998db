#include "reference/hedged_betting.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "rampart/base/random.hpp"
#include "support/golden_numbers.hpp"

namespace rampart::reference {
namespace {

using stats::Interval;
using stats::Range;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Values in [-2, 3], mostly near the middle, of mean 0.5.
std::vector<double> sample(size_t n, uint64_t seed) {
    base::Random random(seed);
    std::vector<double> out;
    for (size_t i = 0; i < n; ++i) out.push_back(0.5 + 0.5 * (random.uniform() - random.uniform()));
    return out;
}

TEST(HedgedBetting, TheFirstBetsAreThoseOfTheFormula) {
    // one value of 1 in [0, 1] with the bet sqrt(2 ln(2 / alpha) / (1/4)): the mean m is rejected
    // from above iff 1 + bet (1 - m) reaches 2 / alpha = 4
    const Interval interval = hedged_betting_interval(std::vector<double>{1}, {0, 1}, 0.5);
    EXPECT_NEAR(interval.lo, 1 - 3 / std::sqrt(8 * std::log(4)), 1e-12);
    EXPECT_EQ(interval.hi, 1);
}

TEST(HedgedBetting, NoBetRisksMoreThanItsShare) {
    // truncated at 1/4 of 1/m, the same value rejects m iff 1 + (1/m - 1) / 4 reaches 4
    const Interval interval =
        hedged_betting_interval(std::vector<double>{1}, {0, 1}, 0.5, {.truncation = 0.25});
    EXPECT_NEAR(interval.lo, 1.0 / 13, 1e-12);
}

TEST(HedgedBetting, IsNarrowerThanHoeffdingWhereValuesVaryLittle) {
    const auto values = sample(1000, 1);
    const Interval betting = hedged_betting_interval(values, {-2, 3}, 0.1);
    EXPECT_LT(betting.lo, 0.5);
    EXPECT_GT(betting.hi, 0.5);
    EXPECT_GT(betting.lo, stats::hoeffding_lower_bound(stats::moments(values), {-2, 3}, 0.05));
    EXPECT_LT(betting.hi - betting.lo, 0.1);
}

TEST(HedgedBetting, MirroredValuesHaveTheMirroredInterval) {
    auto values = sample(300, 2);
    const Interval a = hedged_betting_interval(values, {-2, 3}, 0.1);
    for (double& x : values) x = -x;
    const Interval b = hedged_betting_interval(values, {-3, 2}, 0.1);
    EXPECT_NEAR(a.lo, -b.hi, 1e-12);
    EXPECT_NEAR(a.hi, -b.lo, 1e-12);
}

TEST(HedgedBetting, TheRunningIntervalIsNeverWiderAndAnyTimeCostsWidth) {
    const auto values = sample(500, 3);
    const Interval running = hedged_betting_interval(values, {-2, 3}, 0.1);
    const Interval last = hedged_betting_interval(values, {-2, 3}, 0.1, {.running = false});
    const Interval any_time = hedged_betting_interval(values, {-2, 3}, 0.1, {.any_time = true});
    EXPECT_GE(running.lo, last.lo);
    EXPECT_LE(running.hi, last.hi);
    EXPECT_GT(any_time.hi - any_time.lo, running.hi - running.lo);
}

TEST(HedgedBetting, WhatCannotBeComputedSaysNothing) {
    const double nan = std::nan("");
    const auto says_nothing = [](const std::vector<double>& values, Range range, double alpha) {
        const Interval i = hedged_betting_interval(values, range, alpha);
        return i.lo == -kInfinity && i.hi == kInfinity;
    };
    EXPECT_TRUE(says_nothing({}, {0, 1}, 0.1));
    EXPECT_TRUE(says_nothing({nan}, {0, 1}, 0.1));
    EXPECT_TRUE(says_nothing({1.5}, {0, 1}, 0.1));
    EXPECT_TRUE(says_nothing({0.5}, {1, 0}, 0.1));
    EXPECT_TRUE(says_nothing({0.5}, {0, kInfinity}, 0.1));
    EXPECT_TRUE(says_nothing({0.5}, {0, 1}, 0));
    EXPECT_TRUE(says_nothing({0.5}, {0, 1}, nan));
}

/// The values that the golden bounds are of.
std::vector<double> golden_values(const test::GoldenNumbers& golden) {
    auto values = golden.array({"Z", "pair_ctr"});
    for (double& x : values) x += 0.02;
    return values;
}

TEST(HedgedLogWealth, AgreesWithTheGoldenVectors) {
    const test::GoldenNumbers golden("elf_vectors.json");
    const auto values = golden_values(golden);
    const Range range{golden.number({"bounds", "lo"}), golden.number({"bounds", "hi"})};
    EXPECT_NEAR(hedged_log_wealth(values, range, 0, 0.1, {.running = false}),
                golden.number({"bounds", "wsr_logwealth_final"}), 1e-10);
    EXPECT_NEAR(hedged_log_wealth(values, range, 0, 0.1),
                golden.number({"bounds", "wsr_logwealth_running_max"}), 1e-10);
}

TEST(HedgedLogWealth, RejectsJustTheMeansBelowTheIntervalsLowerEnd) {
    const auto values = sample(300, 7);
    for (const bool running : {true, false}) {
        for (const bool any_time : {true, false}) {
            const HedgedBettingOptions options{.any_time = any_time, .running = running};
            const double end = hedged_betting_interval(values, {-2, 3}, 0.1, options).lo;
            const auto wealth = [&](double theta) {
                return hedged_log_wealth(values, {-2, 3}, theta, 0.05, options);
            };
            EXPECT_GE(wealth(end - 1e-9), std::log(20));
            EXPECT_LT(wealth(end + 1e-9), std::log(20));
        }
    }
}

TEST(HedgedLogWealth, WhatCannotBeComputedCertifiesNothing) {
    const auto wealth = [](const std::vector<double>& values, Range range, double theta,
                           double delta) { return hedged_log_wealth(values, range, theta, delta); };
    const std::vector<double> good{0.5, 0.6};
    EXPECT_GT(wealth(good, {0, 1}, 0.1, 0.1), 0);
    EXPECT_EQ(wealth({}, {0, 1}, 0.1, 0.1), -kInfinity);
    EXPECT_EQ(wealth({0.5, std::nan("")}, {0, 1}, 0.1, 0.1), -kInfinity);
    EXPECT_EQ(wealth({0.5, 1.5}, {0, 1}, 0.1, 0.1), -kInfinity);
    EXPECT_EQ(wealth(good, {1, 0}, 0.1, 0.1), -kInfinity);
    EXPECT_EQ(wealth(good, {0, 1}, 0, 0.1), -kInfinity);
    EXPECT_EQ(wealth(good, {0, 1}, 1.1, 0.1), -kInfinity);
    EXPECT_EQ(wealth(good, {0, 1}, std::nan(""), 0.1), -kInfinity);
    EXPECT_EQ(wealth(good, {0, 1}, 0.1, 1), -kInfinity);
    EXPECT_EQ(wealth(good, {0, 1}, 0.1, std::nan("")), -kInfinity);
}

}  // namespace
}  // namespace rampart::reference
