#pragma once

#include <optional>
#include <span>

#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/rate_constraints.hpp"

namespace rampart::fairness {

/// Where scores become decisions: a row is approved iff its score is at least the centre.
struct OperatingPoint {
    double threshold = 0.5;  // (0, 1): the centre is its log-odds …
    /// … unless an overall rate is to be met (fpr, fnr or dp): then the centre is the one that
    /// approves most people (fnr: fewest) with the rate at most that (papers/000, appendix D).
    std::optional<RateTarget> meets = {};
};
base::Status validate(const OperatingPoint& point);

/// As a raw score (log-odds), halfway between two that rows have. Rows with equal scores are
/// decided alike; where even the best score is too many, nobody is approved. stride: only every
/// stride-th row is looked at. With `meets`, rows with the label that it speaks of must be among
/// them.
double centre_of(const OperatingPoint& point, const dataset::Dataset& data,
                 std::span<const double> scores, size_t stride = 1);

}  // namespace rampart::fairness
