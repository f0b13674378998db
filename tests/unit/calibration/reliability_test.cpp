#include "rampart/calibration/reliability.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "rampart/base/random.hpp"
#include "rampart/calibration/calibration.hpp"

namespace rampart::calibration {
namespace {

struct Sample {
    std::vector<double> score;
    std::vector<uint8_t> label;
    std::vector<float> weight;
    ReliabilityRows rows() const { return {score, label, weight}; }
};

/// Draws n rows that say p and are favourable with probability p + off·(1/2 - p).
Sample sample(size_t n, double off, uint64_t seed, bool weighted = false) {
    base::Random random(seed);
    Sample out;
    for (size_t i = 0; i < n; ++i) {
        // ten scores, so that the bins are the same in every sample
        const double p = 0.05 + 0.1 * static_cast<double>(i % 10);
        out.score.push_back(p);
        out.label.push_back(random.bernoulli(p + off * (0.5 - p)));
        if (weighted) out.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
    }
    return out;
}

TEST(Reliability, ErrorAndLossesAreThoseOfTheCalibrationReport) {
    const auto drawn = sample(2000, 0.3, 1, true);
    const auto found = reliability_of(drawn.rows(), 15, 0.95, 1);
    ASSERT_TRUE(found);
    const auto same = calibration_error(drawn.score, drawn.label, drawn.weight, 15);
    EXPECT_NEAR(found->expected, same.expected, 1e-12);
    EXPECT_NEAR(found->brier, same.brier, 1e-12);
    EXPECT_NEAR(found->log_loss, same.log_loss, 1e-12);
    size_t rows = 0;
    double last = -1;
    for (const auto& bin : found->bins) {
        rows += bin.rows;
        EXPECT_GT(bin.said, last);
        last = bin.said;
        EXPECT_LE(bin.interval.lo, bin.happened);
        EXPECT_GE(bin.interval.hi, bin.happened);
    }
    EXPECT_EQ(rows, 2000u);
}

TEST(Reliability, TheIntervalCoversTheErrorOfThePopulation) {
    // the ten bins are off by off·|1/2 - p|, on the mean off/4
    constexpr int kRepetitions = 400;
    for (const double off : {0.0, 0.1, 0.4}) {
        int covered = 0, naive = 0;
        double width = 0, chance = 0, expected = 0;
        for (int r = 0; r < kRepetitions; ++r) {
            const auto drawn = sample(1500, off, 100 + static_cast<uint64_t>(r));
            const auto found = reliability_of(drawn.rows(), 10, 0.95, 7);
            ASSERT_TRUE(found);
            const double truth = off / 4;
            covered += found->interval.lo <= truth && truth <= found->interval.hi;
            naive += std::abs(found->expected - truth) < 0.005;
            width += (found->interval.hi - found->interval.lo) / kRepetitions;
            chance += found->by_chance / kRepetitions;
            expected += found->expected / kRepetitions;
        }
        EXPECT_GE(covered, kRepetitions * 0.93) << off;
        EXPECT_LT(width, 0.09) << off;
        // with perfect calibration the error is what chance alone shows, far from 0
        if (off == 0) {
            EXPECT_NEAR(expected, chance, 0.1 * chance);
            EXPECT_LT(naive, kRepetitions / 10);
        }
    }
}

TEST(Reliability, OneScoreIsOneBinAndOneLabelHasAWidth) {
    const std::vector<double> score(50, 0.9);
    const std::vector<uint8_t> label(50, 1);
    const auto found = reliability_of({score, label, {}}, 10, 0.95, 1);
    ASSERT_TRUE(found);
    ASSERT_EQ(found->bins.size(), 1u);
    EXPECT_NEAR(found->expected, 0.1, 1e-12);
    EXPECT_GT(found->interval.hi, found->interval.lo);
}

TEST(Reliability, RefusesRowsThatAreNone) {
    const std::vector<double> score{0.5, 1.5};
    const std::vector<uint8_t> label{0, 1};
    EXPECT_FALSE(reliability_of({score, label, {}}, 10, 0.95, 1));
    EXPECT_FALSE(reliability_of({}, 10, 0.95, 1));
}

}  // namespace
}  // namespace rampart::calibration
