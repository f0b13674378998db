#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/stats/metrics.hpp"

/// What fairness costs in performance: the trade-off that many trained models span, with the
/// uncertainty of having tried only so many (FairGBM, Cruz et al. 2023, section 4).
namespace rampart::fairness {

struct TradeOff {
    double performance = 0;  // [0, 1], larger is better
    double unfairness = 0;   // [0, 1], smaller is better
};

/// One trained model, on the rows that choose and on rows that no choice has seen.
struct FrontierTrial {
    TradeOff validation, test;
};

/// Returns the models that no other beats on both counts, by validation, the fairest first; the
/// first of equal ones.
std::vector<size_t> undominated(std::span<const FrontierTrial> trials);

struct FrontierParams {
    std::vector<double> alphas{0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1};  // in [0, 1]
    size_t tries = 20;          // models that a user would train, of those there are; >= 1
    size_t repetitions = 1000;  // >= 1
    double confidence = 0.95;   // (0, 1)
    uint64_t seed = 0;
};

/// The result of a user who trains `tries` models and takes, by validation, the one with the
/// largest alpha · performance + (1 - alpha) · (1 - unfairness): mean and percentile band on the
/// test rows over bootstrap samples of the trials.
struct FrontierBand {
    double alpha = 0;
    TradeOff mean;
    stats::Interval performance, unfairness;
};

/// Computes a band for each alpha, in their order. Deterministic in its arguments. Errors: no
/// trials, parameters out of range, a figure that is not in [0, 1].
base::Result<std::vector<FrontierBand>> frontier_bands(std::span<const FrontierTrial> trials,
                                                       const FrontierParams& params);

}  // namespace rampart::fairness
