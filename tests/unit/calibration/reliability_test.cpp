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

/// Returns in how many of 400 samples the interval covers `truth`.
template <class Draw>
int covered_of_400(size_t bins, double truth, const Draw& draw) {
    int covered = 0;
    for (uint64_t r = 0; r < 400; ++r) {
        base::Random random(500 + r);
        Sample drawn;
        for (size_t i = 0; i < 1000; ++i) draw(random, drawn);
        const auto found = reliability_of(drawn.rows(), bins, 0.95, 7).value();
        covered += found.interval.lo <= truth && truth <= found.interval.hi;
    }
    return covered;
}

TEST(Reliability, TheIntervalHasTheNoiseOfTheSharesOfBins) {
    // half say 0.5, half say 0, and nothing happens: only the shares of the two bins are drawn
    const auto covered = covered_of_400(2, 0.25, [](base::Random& random, Sample& out) {
        out.score.push_back(random.bernoulli(0.5) ? 0.5 : 0);
        out.label.push_back(0);
    });
    EXPECT_GE(covered, 400 * 0.93);
}

TEST(Reliability, TheIntervalHasTheNoiseOfScoresAgainstLabelsWithinABin) {
    // one bin whose scores always say the opposite: it is off by P(label 0) - P(label 1)
    for (const bool weighted : {false, true})
        for (const double rate : {0.5, 0.3}) {
            const auto draw = [&](base::Random& random, Sample& out) {
                const bool label = random.bernoulli(rate);
                out.score.push_back(label ? 0 : 1);
                out.label.push_back(label);
                if (weighted) out.weight.push_back(static_cast<float>(random.uniform(0.5, 2)));
            };
            EXPECT_GE(covered_of_400(1, 1 - 2 * rate, draw), 400 * 0.93) << rate << weighted;
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
