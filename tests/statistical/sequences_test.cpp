// How often bounds for repeated looks are wrong at any look.
#include <algorithm>

#include "monte_carlo.hpp"
#include "rampart/stats/confidence_sequence.hpp"
#include "rampart/stats/distribution_bounds.hpp"
#include "reference/hedged_betting.hpp"

namespace rampart::test {
namespace {

using stats::Interval;

constexpr double kAlpha = 0.1;
constexpr int kRepetitions = 2000;
constexpr size_t kValues = 400;

/// Skewed values in [0, 1] with mean 0.2.
double skewed(base::Random& random) { return random.bernoulli(0.25) ? random.uniform(0.6, 1) : 0; }

std::vector<double> skewed_sample(base::Random& random, size_t n = kValues) {
    std::vector<double> out(n);
    std::generate(out.begin(), out.end(), [&] { return skewed(random); });
    return out;
}

bool misses(const Interval& interval, double mean) {
    return !(interval.lo <= mean && mean <= interval.hi);
}

TEST(Sequences, HedgedBettingMissesTheMeanAtMostAsOftenAsItSays) {
    for (const bool any_time : {false, true}) {
        const double rate = rate_of(
            any_time ? "hedged betting, any time" : "hedged betting, n fixed", kRepetitions, 11,
            [&](base::Random& random) {
                // the running interval is the best of all looks: it is wrong if any of them was
                return misses(reference::hedged_betting_interval(skewed_sample(random), {0, 1},
                                                                 kAlpha, {.any_time = any_time}),
                              0.2);
            });
        EXPECT_LE(rate, at_most(kAlpha, kRepetitions));
        EXPECT_GT(rate, 0.005) << "an interval that is never wrong proves nothing";
    }
}

TEST(Sequences, UnderDriftTheRunningIntervalSpeaksOfAPrefixOnly) {
    // the first half brings more than the second: this is no bound on the average of both
    const auto drifting = [](base::Random& random) {
        auto out = skewed_sample(random);
        for (size_t i = 0; i < out.size() / 2; ++i) out[i] = std::min(1.0, out[i] + 0.5);
        return out;
    };
    double mean = 0;
    base::Random many(5);
    for (int i = 0; i < 2000; ++i) mean += stats::moments(drifting(many)).mean / 2000;
    const double wrong =
        rate_of("running interval under drift (wrong)", 500, 12, [&](base::Random& random) {
            return misses(reference::hedged_betting_interval(drifting(random), {0, 1}, kAlpha),
                          mean);
        });
    EXPECT_GT(wrong, 0.5);
}

TEST(Sequences, AsymptoticOnesAreRarelyWrongAtAnyLook) {
    const auto ever = [](base::Random& random, const auto& lower_of) {
        stats::AsymptoticSequence sequence(kAlpha, kValues);
        bool wrong = false;
        for (size_t i = 0; i < 4 * kValues; ++i) {
            sequence.add(random.normal());
            if (i >= 30) wrong = wrong || lower_of(sequence) > 0;
        }
        return wrong;
    };
    const double rate =
        rate_of("asymptotic sequence, every look", kRepetitions, 13, [&](base::Random& random) {
            return ever(random, [](const auto& s) { return s.lower(); });
        });
    EXPECT_LE(rate, at_most(kAlpha, kRepetitions));
    const double naive =
        rate_of("normal bound at every look (wrong)", kRepetitions, 13, [&](base::Random& random) {
            return ever(random, [](const auto& s) {
                return s.mean() - 1.2816 / std::sqrt(static_cast<double>(s.count()));
            });
        });
    EXPECT_GT(naive, 0.3);
}

TEST(Sequences, ABandFromBoundsAtEachPointHoldsForAllQuantitiesAtOnce) {
    const std::vector<double> points{0, 0.2, 0.5, 0.7, 0.8, 0.9};
    const auto quantity_missed = [&](base::Random& random) {
        const auto values = skewed_sample(random);
        stats::DistributionBand band{.lo = 0, .hi = 1, .points = points, .lower = {}, .upper = {}};
        const double each = kAlpha / static_cast<double>(points.size());
        for (const double v : points) {
            std::vector<double> below;
            for (const double x : values) below.push_back(x <= v ? 1 : 0);
            const Interval f = reference::hedged_betting_interval(below, {0, 1}, each);
            band.lower.push_back(f.lo);
            band.upper.push_back(f.hi);
        }
        const auto made = stats::monotone(band);
        if (!made) return true;
        // 3/4 at 0, 1/4 uniform on [0.6, 1]
        const double variance = 0.25 * (0.64 + 0.16 / 12) - 0.04;
        return misses(stats::mean_interval(*made), 0.2) ||
               misses(stats::quantile_interval(*made, 0.5), 0) ||
               misses(stats::variance_interval(*made), variance) ||
               misses(stats::cvar_interval(*made, 0.8), 0.05 * 0.62 / 0.8);
    };
    const double rate = rate_of("band of 6 points, four quantities", 500, 14, quantity_missed);
    EXPECT_LE(rate, at_most(kAlpha, 500));
}

}  // namespace
}  // namespace rampart::test
