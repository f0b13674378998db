#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/stats/interval.hpp"

/// The reliability diagram: what probabilities say, and what happens.
namespace rampart::calibration {

/// Rows of about one score.
struct ReliabilityBin {
    size_t rows = 0;
    double weight = 0;
    double said = 0, happened = 0;  // means of the score and of the label
    stats::Interval interval;       // Wilson's, of what happens, at the confidence
};

struct Reliability {
    std::vector<ReliabilityBin> bins;  // by rising score, none of them empty
    double brier = 0, log_loss = 0;
    double expected = 0;  // expected calibration error: mean over bins of |said - happened|
    /// Interval of the expected calibration error that bins of the same edges would have on all of
    /// the population: expected ± the quantile of t · |Z| + sum of share_b · s_b · |Z_b|, at least
    /// 0. s_b is the standard error of the bin's mean of score - label, at least that of its rate;
    /// t is that of the mean gap for the shares of the bins, which are drawn, too; Z and Z_b are
    /// independent normal draws. By the triangle inequality the estimate is off by more than this
    /// sum in at most 1 - confidence of all samples, so that the interval covers at least as often
    /// as it says, up to the normal approximation and the errors of s_b and t: it is for bins of
    /// many rows. The estimate itself is too high where calibration is good: chance alone moves
    /// bins apart, which `by_chance` shows.
    stats::Interval interval;
    double by_chance = 0;  // mean of the sum without t: what perfect calibration would show here
};

struct ReliabilityRows {
    std::span<const double> score;   // [n] P(favourable) in [0, 1]
    std::span<const uint8_t> label;  // [n] 0 or 1
    std::span<const float> weight;   // [n] > 0; empty: all 1
};

/// Computes the diagram in bins of equal weight as of CalibrationError, 1 … 1,000; 0 < confidence <
/// 1, the caller's promise.
/// Deterministic in the seed. Errors: those of stats::validate().
base::Result<Reliability> reliability_of(const ReliabilityRows& rows, size_t bins,
                                         double confidence, uint64_t seed);

}  // namespace rampart::calibration
