#include "rampart/stats/betting_sample.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Drawn {
    Range range{-2, 3};
    std::vector<double> values;
    Bets bets;

    Drawn(uint64_t seed, size_t n, double mean) {
        base::Random random(seed);
        for (size_t i = 0; i < n; ++i) {
            values.push_back(std::clamp(mean + random.uniform(-0.7, 0.7) * random.uniform(0, 2),
                                        range.lo, range.hi));
        }
        bets = *plan_bets({n, 0.2}, range.lo, 0.05);
    }
    BettingSample sample() const {
        BettingSample out(range, bets);
        for (const double v : values) out.add(v);
        return out;
    }
};

RC_GTEST_PROP(BettingSample, SaysWhatTheWholeSampleSays, ()) {
    const auto seed = *rc::gen::arbitrary<uint64_t>();
    const auto n = *rc::gen::inRange<size_t>(2, 400);
    const Drawn d(seed, n, static_cast<double>(seed % 7) / 20);
    const BettingSample sample = d.sample();
    RC_ASSERT(std::abs(sample.log_wealth() - log_wealth(d.values, d.range.lo, d.bets, 0)) <= 1e-9);
    const Moments a = sample.moments(), b = moments(d.values);
    RC_ASSERT(a.n == b.n);
    RC_ASSERT(std::abs(a.mean - b.mean) <= 1e-12);
    RC_ASSERT(std::abs(a.variance - b.variance) <= 1e-12);
    const double exact = betting_lower_bound(d.values, d.range.lo, d.bets, 0.05);
    const double bound = sample.lower_bound(0.05);
    RC_ASSERT(bound <= exact + 1e-9);
    RC_ASSERT(bound >= exact - 1e-5);
}

TEST(BettingSample, ItsBoundIsAboveZeroExactlyWhereTheWealthSuffices) {
    int passed = 0;
    for (uint64_t seed = 0; seed < 200; ++seed) {
        const BettingSample sample = Drawn(seed, 60, 0.15).sample();
        const bool passes = sample.log_wealth() >= -std::log(0.05);
        passed += passes;
        EXPECT_EQ(sample.lower_bound(0.05) >= 0, passes) << seed;
    }
    EXPECT_GT(passed, 20);
    EXPECT_LT(passed, 180);
}

TEST(BettingSample, AValueOutsideItsRangeOrNoNumberEndsAllStatements) {
    for (const double bad : {-2.1, 3.1, std::nan(""), kInfinity}) {
        BettingSample sample = Drawn(1, 50, 1).sample();
        EXPECT_GT(sample.log_wealth(), 0);
        sample.add(bad);
        EXPECT_EQ(sample.log_wealth(), -kInfinity);
        EXPECT_EQ(sample.lower_bound(0.05), -kInfinity);
        EXPECT_TRUE(std::isnan(sample.moments().mean));
    }
}

TEST(BettingSample, WithoutValuesOrWithBadBetsSaysNothing) {
    const Drawn d(1, 50, 1);
    EXPECT_EQ(BettingSample(d.range, d.bets).log_wealth(), -kInfinity);
    Bets zero = d.bets;
    zero.bets[0] = 0;
    BettingSample sample(d.range, zero);
    sample.add(1);
    EXPECT_EQ(sample.lower_bound(0.05), -kInfinity);
}

TEST(BettingSample, EqualValuesDoNotVaryWhateverTheirRounding) {
    const Drawn d(1, 50, 1);
    BettingSample sample(d.range, d.bets);
    for (int i = 0; i < 1000; ++i) sample.add(0.1);
    EXPECT_FALSE(sample.varied());
    EXPECT_EQ(sample.moments().variance, 0);
    sample.add(0.2);
    EXPECT_TRUE(sample.varied());
}

}  // namespace
}  // namespace rampart::stats
