#include "rampart/stats/betting.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "rampart/base/random.hpp"
#include "support/golden_numbers.hpp"

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Golden {
    test::GoldenNumbers numbers{"elf_vectors.json"};
    std::vector<double> z = numbers.array({"Z", "pair_ctr"});
    double lo = numbers.number({"bounds", "lo"});
    Bets bets{.bets = {}, .weights = {0.15, 0.70, 0.15}, .cap = 0.75};
    Golden() {
        for (double& x : z) x += 0.02;
        const auto golden_bets = numbers.array({"bounds", "bets"});
        std::copy_n(golden_bets.begin(), kBetCount, bets.bets.begin());
    }
};

TEST(Betting, WealthAndLowerBoundAgreeWithTheGoldenVectors) {
    const Golden golden;
    EXPECT_NEAR(log_wealth(golden.z, golden.lo, golden.bets, 0),
                golden.numbers.number({"bounds", "bet_logwealth_mix_final"}), 1e-10);
    EXPECT_NEAR(betting_lower_bound(golden.z, golden.lo, golden.bets, 0.1),
                golden.numbers.number({"bounds", "bet_lcb_from_mixture"}), 1e-10);
}

TEST(Betting, TheWealthOfEveryBeginningAgreesWithTheGoldenVectors) {
    const Golden golden;
    double best = -kInfinity;
    for (size_t n = 1; n <= golden.z.size(); ++n) {
        best = std::max(best, log_wealth({golden.z.data(), n}, golden.lo, golden.bets, 0));
    }
    EXPECT_NEAR(best, golden.numbers.number({"bounds", "bet_logwealth_mix_running_max"}), 1e-10);
}

TEST(Betting, EachBetAloneAgreesWithTheGoldenVectors) {
    const Golden golden;
    const auto each = golden.numbers.array({"bounds", "bet_logwealth_each"});
    for (size_t k = 0; k < kBetCount; ++k) {
        Bets alone = golden.bets;
        alone.weights = {0, 0, 0};
        alone.weights[k] = 1;
        EXPECT_NEAR(log_wealth(golden.z, golden.lo, alone, 0), each[k], 1e-10);
    }
}

TEST(Betting, HandWorkedWealth) {
    // one value 1, bets 1/2: wealth 3/2 whatever the weights
    const Bets bets{.bets = {0.5, 0.5, 0.5}, .weights = {0.15, 0.70, 0.15}, .cap = 0.95};
    const std::vector<double> one{1};
    EXPECT_NEAR(log_wealth(one, -1, bets, 0), std::log(1.5), 1e-14);
    EXPECT_LT(log_wealth(one, -1, bets, 0), std::log(1.5)) << "rounded down";
}

TEST(Betting, BetsAreNearTheBestAndNeverRiskMoreThanTheCap) {
    const Bets bets = *plan_bets({200, 4}, -10, std::exp(-1));
    const double best = std::sqrt(2 / (200 * 4.0));
    EXPECT_DOUBLE_EQ(bets.bets[0], 0.4 * best);
    EXPECT_DOUBLE_EQ(bets.bets[1], best);
    EXPECT_DOUBLE_EQ(bets.bets[2], 0.095) << "2.5 * 0.05 is capped at 0.95 / 10";
}

TEST(Betting, APlanThatCannotBeIsAnError) {
    EXPECT_EQ(plan_bets({1, 4}, -1, 0.1).error().reason, "bad_plan");
    EXPECT_EQ(plan_bets({9, 0}, -1, 0.1).error().reason, "bad_plan");
    EXPECT_EQ(plan_bets({9, std::nan("")}, -1, 0.1).error().reason, "bad_plan");
    EXPECT_EQ(plan_bets({9, 4}, 0, 0.1).error().reason, "bad_plan");
    EXPECT_EQ(plan_bets({9, 4}, -1, 0).error().reason, "bad_delta");
    EXPECT_EQ(plan_bets({9, 4}, -1, 0.1, {.cap = 1}).error().reason, "bad_bet_cap");
    EXPECT_EQ(plan_bets({9, 4}, -1, 0.1, {.weights = {0.5, 0.5, 0.5}}).error().reason, "bad_bets");
}

TEST(Betting, WhatCannotBeComputedCertifiesNothing) {
    const Bets bets = *plan_bets({4, 1}, -1, 0.1);
    const double nan = std::nan("");
    for (const std::vector<double>& values :
         {std::vector<double>{}, {1, nan}, {1, kInfinity}, {1, -1.5}}) {
        EXPECT_EQ(log_wealth(values, -1, bets, 0), -kInfinity);
        EXPECT_EQ(betting_lower_bound(values, -1, bets, 0.1), -kInfinity);
    }
    const std::vector<double> fine{1, 2};
    EXPECT_EQ(log_wealth(fine, -1, bets, -1), -kInfinity);
    EXPECT_EQ(log_wealth(fine, -1, bets, nan), -kInfinity);
    EXPECT_EQ(log_wealth(fine, nan, bets, 0), -kInfinity);
    EXPECT_EQ(betting_lower_bound(fine, -1, bets, 0), -kInfinity);
}

TEST(Betting, TheWealthOverStartsIsTheWeightedMeanOfBettorsWhoBeginLater) {
    const Golden golden;
    const std::span<const double> z(golden.z);
    const size_t block = z.size() / 4 + 1;  // starts at 0, block, 2 block and 3 block
    double mean = 0;
    for (size_t j = 0; j < 4; ++j) {
        const auto number = static_cast<double>(j);
        mean += (j == 0 ? 0.5 : 0.5 / (number * (number + 1))) *
                std::exp(log_wealth(z.subspan(j * block), golden.lo, golden.bets, 0));
    }
    mean += 0.5 / 4;  // who begins after the last value
    const auto wealth = log_wealth_over_starts(z, golden.lo, golden.bets, block);
    EXPECT_NEAR(wealth.log_wealth, std::log(mean), 1e-10);
    EXPECT_LE(wealth.log_wealth, std::log(mean));
    for (const size_t one : {z.size(), z.size() + 5}) {
        const double from_first = std::exp(log_wealth(z, golden.lo, golden.bets, 0));
        EXPECT_NEAR(log_wealth_over_starts(z, golden.lo, golden.bets, one).log_wealth,
                    std::log(0.5 * from_first + 0.5), 1e-10);
    }
}

TEST(Betting, TheStartWithTheLargestPartIsWhereTheGainsBegin) {
    std::vector<double> z(300, -0.5);
    std::fill(z.begin() + 200, z.end(), 0.5);
    const Bets bets{.bets = {0.2, 0.3, 0.4}, .weights = {0.15, 0.70, 0.15}, .cap = 0.95};
    EXPECT_EQ(log_wealth_over_starts(z, -1, bets, 50).start, 200u);
    EXPECT_LT(log_wealth(z, -1, bets, 0), -10);
    EXPECT_GT(log_wealth_over_starts(z, -1, bets, 50).log_wealth, 8);
    for (const double bad : {std::nan(""), kInfinity, -1.5}) {
        z[7] = bad;
        EXPECT_EQ(log_wealth_over_starts(z, -1, bets, 50).log_wealth, -kInfinity);
    }
    EXPECT_EQ(log_wealth_over_starts({}, -1, bets, 50).log_wealth, -kInfinity);
    EXPECT_EQ(log_wealth_over_starts(std::vector{0.1}, -1, bets, 0).log_wealth, -kInfinity);
    EXPECT_EQ(log_wealth_over_starts(std::vector{0.1}, 0, bets, 5).log_wealth, -kInfinity);
}

TEST(Betting, WealthDoesNotOverflow) {
    const std::vector<double> values(100'000, 50.0);
    const Bets bets = *plan_bets({100, 1}, -1, 0.1);
    EXPECT_GT(log_wealth(values, -1, bets, 0), 1e5);
    EXPECT_LT(log_wealth(values, -1, bets, 0), kInfinity);
    EXPECT_NEAR(betting_lower_bound(values, -1, bets, 0.1), 50, 0.01);
}

TEST(Betting, WithoutEvidenceTheBoundIsTheRange) {
    const std::vector<double> worst(100, -1.0);
    EXPECT_EQ(betting_lower_bound(worst, -1, *plan_bets({100, 1}, -1, 0.1), 0.1), -1);
}

std::vector<double> some_values(size_t n, double shift) {
    base::Random random(*rc::gen::inRange(0, 1'000'000));
    std::vector<double> values(n);
    for (double& z : values) z = random.uniform(-1, 1 + shift);
    return values;
}

RC_GTEST_PROP(Betting, WealthFallsInTheta, ()) {
    const auto values = some_values(*rc::gen::inRange(1, 200), 0.3);
    const Bets bets = *plan_bets({values.size() + 1, 0.4}, -1, 0.05);
    const double low = *rc::gen::inRange(-999, 999) / 1000.0, high = low + 0.01;
    RC_ASSERT(log_wealth(values, -1, bets, low) > log_wealth(values, -1, bets, high) - 1e-12);
}

RC_GTEST_PROP(Betting, TheLowerBoundIsTheEdgeOfWhatIsRejected, ()) {
    const auto values = some_values(*rc::gen::inRange(20, 300), 0.5);
    const Bets bets = *plan_bets({values.size(), 0.4}, -1, 0.05);
    const double bound = betting_lower_bound(values, -1, bets, 0.05);
    RC_PRE(bound > -1);
    RC_ASSERT(log_wealth(values, -1, bets, bound) >= -std::log(0.05));
    RC_ASSERT(log_wealth(values, -1, bets, bound + 1e-9) < -std::log(0.05));
}

RC_GTEST_PROP(Betting, OrderAndUnitsDoNotMatter, ()) {
    auto values = some_values(*rc::gen::inRange(20, 300), 0.5);
    const double scale = *rc::gen::inRange(1, 500) / 7.0, delta = 0.05;
    const double bound =
        betting_lower_bound(values, -1, *plan_bets({values.size(), 0.4}, -1, delta), delta);
    std::reverse(values.begin(), values.end());
    for (double& z : values) z *= scale;
    const auto scaled_bets = plan_bets({values.size(), 0.4 * scale * scale}, -scale, delta);
    const double scaled = betting_lower_bound(values, -scale, *scaled_bets, delta);
    RC_ASSERT(std::abs(scaled - scale * bound) < 1e-9 * scale);
}

RC_GTEST_PROP(Betting, RecordsThatChangeNothingCostNothing, ()) {
    auto values = some_values(*rc::gen::inRange(2, 100), 0.5);
    const Bets bets = *plan_bets({values.size(), 0.4}, -1, 0.05);
    const double before = log_wealth(values, -1, bets, 0);
    values.insert(values.end(), 50, 0.0);
    RC_ASSERT(std::abs(log_wealth(values, -1, bets, 0) - before) < 1e-12 * (1 + std::abs(before)));
}

}  // namespace
}  // namespace rampart::stats
