#pragma once

#include <optional>
#include <span>

#include "rampart/stats/interval.hpp"

namespace rampart::stats {

/// Figures of one learner over folds or other divisions of one table.
struct ResampledMean {
    double mean = 0;
    double spread = 0;  // standard deviation of the figures; 0 of one
    /// Interval of the figure that the learner would reach, on the mean over tables of as many
    /// training rows from the same population. nullopt: fewer than two figures.
    std::optional<Interval> interval;
};

/// Computes the corrected resampled t interval: mean ± t(J - 1) · sqrt((1/J + test/train) · s²) for
/// J figures (Nadeau and Bengio, "Inference for the generalization error", Machine Learning 52,
/// 2003; for repeated folds Bouckaert and Frank 2004). Figures of divisions of one table have
/// training rows in common, so that the interval of independent ones, with 1/J alone, is too
/// narrow, and the more so the more divisions there are. `test_to_train` > 0: test rows for each
/// training row, on the mean; 0 gives the interval of independent figures. Requires finite figures,
/// 0 < confidence < 1. nullopt: no figures.
std::optional<ResampledMean> resampled_mean(std::span<const double> figures, double test_to_train,
                                            double confidence);

}  // namespace rampart::stats
