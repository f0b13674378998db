#pragma once

#include <optional>
#include <span>

#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/rate_constraints.hpp"

namespace rampart::fairness {

/// The point at which scores become decisions: a row is approved iff its score is at least the
/// decision threshold.
struct OperatingPoint {
    double threshold = 0.5;  // probability, (0, 1): the decision threshold is its log-odds …
    /// … unless an overall rate is to be met (fpr, fnr or approvals): then it is the one that
    /// approves most rows (fnr: fewest) with the rate at most that (FairGBM, Cruz et al. 2023,
    /// appendix D).
    std::optional<RateTarget> meets = {};
};
base::Status validate(const OperatingPoint& point);

/// Returns the decision threshold as a raw score (log-odds), halfway between two scores of rows.
/// Rows with equal scores are decided alike; where even the best score would be too many, no row is
/// approved. stride: only every stride-th row is read. With `meets`, rows with the label that the
/// rate is about must be among them.
double threshold_of(const OperatingPoint& point, const dataset::Dataset& data,
                    std::span<const double> scores, size_t stride = 1);

}  // namespace rampart::fairness
