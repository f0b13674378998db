#pragma once

#include <cmath>
#include <vector>

#include "rampart/base/reasons.hpp"
#include "rampart/base/result.hpp"
#include "rampart/gbdt/reasons.hpp"

namespace rampart::gbdt {

/// Checks targets in [lo, hi] and weights, one per target or none.
inline base::Status check_targets(const std::vector<double>& targets,
                                  const std::vector<float>& weights, double lo, double hi) {
    if (targets.empty()) return base::make_error(base::Reason::kNoRows, "there are no targets");
    if (!weights.empty() && weights.size() != targets.size()) {
        return base::make_error(base::Reason::kBadSize, "{} weights for {} targets", weights.size(),
                                targets.size());
    }
    for (size_t row = 0; row < targets.size(); ++row) {
        if (!(targets[row] >= lo && targets[row] <= hi)) {
            return base::make_error(Reason::kBadTarget, "row {}: target {}; allowed are {} to {}",
                                    row, targets[row], lo, hi);
        }
        if (!weights.empty() && (!(weights[row] > 0) || !std::isfinite(weights[row]))) {
            return base::make_error(base::Reason::kBadWeight,
                                    "row {}: weight {} is not a finite number above 0", row,
                                    weights[row]);
        }
    }
    return base::ok();
}

inline double weight_at(const std::vector<float>& weights, size_t row) {
    return weights.empty() ? 1.0 : static_cast<double>(weights[row]);
}

inline double weighted_mean(const std::vector<double>& targets, const std::vector<float>& weights) {
    double sum = 0, all = 0;
    for (size_t row = 0; row < targets.size(); ++row) {
        sum += weight_at(weights, row) * targets[row];
        all += weight_at(weights, row);
    }
    return sum / all;
}

}  // namespace rampart::gbdt
