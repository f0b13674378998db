#include "rampart/stats/distribution_bounds.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/random.hpp"

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kLevels =
    20;  // bounds are multiples of 1 / kLevels, so that levels can be enumerated

/// The value at each level, of the lowest and of the highest distribution in the band.
struct Quantiles {
    std::vector<double> low, high;
};

Quantiles quantiles_of(const DistributionBand& band) {
    Quantiles out;
    for (int u = 0; u < kLevels; ++u) {
        const double level = (u + 0.5) / kLevels;
        const auto end = [&](const std::vector<double>& f) {
            return static_cast<size_t>(
                std::find_if(f.begin(), f.end(), [&](double x) { return x >= level; }) - f.begin());
        };
        const size_t i = end(band.upper), j = end(band.lower);
        out.low.push_back(i == 0 ? band.lo : band.points[i - 1]);
        out.high.push_back(j == band.points.size() ? band.hi : band.points[j]);
    }
    return out;
}

double mean_of(const std::vector<double>& x) { return moments(x).mean; }
double variance_of(const std::vector<double>& x) {
    return moments(x).variance * (kLevels - 1) / kLevels;
}

/// A band around a random distribution of kLevels equal masses, and that distribution.
struct Made {
    DistributionBand band;
    std::vector<double> values;
};

Made made(uint64_t seed) {
    base::Random random(seed);
    Made out{{.lo = -2, .hi = 5, .points = {}, .lower = {}, .upper = {}}, {}};
    for (int i = 0; i < kLevels; ++i) out.values.push_back(random.uniform(-2, 5));
    std::sort(out.values.begin(), out.values.end());
    const size_t points = 1 + random.below(6);
    for (size_t k = 0; k < points; ++k) out.band.points.push_back(random.uniform(-2, 5));
    std::sort(out.band.points.begin(), out.band.points.end());
    for (const double v : out.band.points) {
        const auto below =
            std::upper_bound(out.values.begin(), out.values.end(), v) - out.values.begin();
        const auto level = static_cast<double>(below);
        out.band.lower.push_back((level - static_cast<double>(random.below(5))) / kLevels);
        out.band.upper.push_back((level + static_cast<double>(random.below(5))) / kLevels);
    }
    out.band = *monotone(out.band);
    return out;
}

void expect_inside(double value, const Interval& interval) {
    RC_ASSERT(value >= interval.lo);
    RC_ASSERT(value <= interval.hi);
}

RC_GTEST_PROP(DistributionBounds, HoldWhateverTheDistributionInTheBandIs, (uint64_t seed)) {
    const Made m = made(seed);
    expect_inside(mean_of(m.values), mean_interval(m.band));
    expect_inside(variance_of(m.values), variance_interval(m.band));
    expect_inside(mean_of({m.values.begin(), m.values.begin() + 5}), cvar_interval(m.band, 0.25));
    expect_inside(m.values[kLevels / 2 - 1], quantile_interval(m.band, 0.5));
}

RC_GTEST_PROP(DistributionBounds, AreReachedByADistributionInTheBand, (uint64_t seed)) {
    const Made m = made(seed);
    const Quantiles q = quantiles_of(m.band);
    const auto near = [](double a, double b) { return std::abs(a - b) < 1e-9; };
    RC_ASSERT(near(mean_interval(m.band).lo, mean_of(q.low)));
    RC_ASSERT(near(mean_interval(m.band).hi, mean_of(q.high)));
    RC_ASSERT(near(cvar_interval(m.band, 0.25).lo, mean_of({q.low.begin(), q.low.begin() + 5})));
    RC_ASSERT(near(cvar_interval(m.band, 0.25).hi, mean_of({q.high.begin(), q.high.begin() + 5})));
    RC_ASSERT(near(quantile_interval(m.band, 0.5).hi, q.high[kLevels / 2 - 1]));
    // Most varied: low up to a level and high from there on, the level's own mass anywhere between.
    double most = 0;
    for (size_t split = 0; split <= kLevels; ++split) {
        std::vector<double> x(q.low.begin(), q.low.begin() + static_cast<long>(split));
        x.insert(x.end(), q.high.begin() + static_cast<long>(split), q.high.end());
        most = std::max(most, variance_of(x));
    }
    const Interval variance = variance_interval(m.band);
    RC_ASSERT(variance.hi >= most - 1e-9);
    RC_ASSERT(variance.hi <= most + 49.0 / 4 / kLevels);  // one level may be split
    // Least varied: each level as near to a centre as it may be.
    double least = kInfinity;
    for (double c = -2; c <= 5; c += 0.001) {
        std::vector<double> x;
        for (size_t u = 0; u < kLevels; ++u) x.push_back(std::clamp(c, q.low[u], q.high[u]));
        least = std::min(least, variance_of(x));
    }
    RC_ASSERT(std::abs(variance.lo - least) < 1e-4);
}

TEST(DistributionBounds, HandWorked) {
    // half of the mass at most 0, half above, in [-1, 1]
    const auto band = monotone({.lo = -1, .hi = 1, .points = {0}, .lower = {0.5}, .upper = {0.5}});
    ASSERT_TRUE(band);
    EXPECT_NEAR(mean_interval(*band).lo, -0.5, 1e-12);
    EXPECT_NEAR(mean_interval(*band).hi, 0.5, 1e-12);
    EXPECT_NEAR(cvar_interval(*band, 0.5).lo, -1, 1e-12);
    EXPECT_NEAR(cvar_interval(*band, 0.5).hi, 0, 1e-12);
    EXPECT_NEAR(variance_interval(*band).lo, 0, 1e-12);
    EXPECT_NEAR(variance_interval(*band).hi, 1, 1e-12);
    EXPECT_EQ(quantile_interval(*band, 0.25).hi, 0);
    EXPECT_EQ(quantile_interval(*band, 0.75).lo, 0);
}

TEST(DistributionBounds, BoundsOfABandRiseAsItsFunctionDoes) {
    const auto band = monotone(
        {.lo = 0, .hi = 9, .points = {1, 2, 3}, .lower = {0.2, 0.1, -3}, .upper = {0.9, 0.4, 7}});
    ASSERT_TRUE(band);
    EXPECT_EQ(band->lower, (std::vector<double>{0.2, 0.2, 0.2}));
    EXPECT_EQ(band->upper, (std::vector<double>{0.4, 0.4, 1}));
}

TEST(DistributionBounds, ABandThatMakesNoSenseIsRefused) {
    const DistributionBand good{
        .lo = 0, .hi = 9, .points = {1, 2}, .lower = {0, 0}, .upper = {1, 1}};
    ASSERT_TRUE(monotone(good));
    const auto refused = [&](auto change) {
        DistributionBand band = good;
        change(band);
        const auto result = monotone(band);
        return !result && result.error().reason == "bad_band";
    };
    const double nan = std::nan("");
    EXPECT_TRUE(refused([](auto& b) { b.points = {2, 1}; }));
    EXPECT_TRUE(refused([](auto& b) { b.points = {1, 1}; }));
    EXPECT_TRUE(refused([](auto& b) { b.points = {1, 9}; }));
    EXPECT_TRUE(refused([](auto& b) { b.points = {-1, 2}; }));
    EXPECT_TRUE(refused([&](auto& b) { b.points = {nan, 2}; }));
    EXPECT_TRUE(refused([](auto& b) {
        b.points = {};
        b.lower = {};
        b.upper = {};
    }));
    EXPECT_TRUE(refused([](auto& b) { b.lower = {0}; }));
    EXPECT_TRUE(refused([&](auto& b) { b.upper = {1, nan}; }));
    EXPECT_TRUE(refused([](auto& b) { b.lo = 9; }));
    EXPECT_TRUE(refused([](auto& b) { b.hi = std::numeric_limits<double>::infinity(); }));
    EXPECT_TRUE(refused([](auto& b) {
        b.lower = {0.6, 0.6};
        b.upper = {1, 0.5};
    }));
}

TEST(DistributionBounds, SharesOutsideTheirRangeSayNothing) {
    const auto band = *monotone({.lo = 0, .hi = 1, .points = {0.5}, .lower = {0}, .upper = {1}});
    for (const double p : {0.0, -1.0, 2.0, std::nan("")}) {
        EXPECT_EQ(quantile_interval(band, p).lo, -kInfinity);
        EXPECT_EQ(cvar_interval(band, p).hi, kInfinity);
    }
}

}  // namespace
}  // namespace rampart::stats
