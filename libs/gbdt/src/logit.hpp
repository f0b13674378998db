#pragma once

#include <algorithm>
#include <cmath>

#include "rampart/model/ensemble.hpp"

namespace rampart::gbdt {

/// Returns log(p / (1 - p)) with p clamped to [1e-9, 1 - 1e-9].
inline double log_odds(double p) {
    constexpr double kEdge = 1e-9;
    p = std::clamp(p, kEdge, 1 - kEdge);
    return std::log(p / (1 - p));
}

/// Computes w·(p - q) and w·p·(1 - p); the latter stays above 0 for p near 0 or 1.
inline void logistic_derivatives(double score, double target, double weight, float& g, float& h) {
    constexpr double kLeastCurvature = 1e-16;
    const double p = model::sigmoid(score);
    g = static_cast<float>(weight * (p - target));
    h = static_cast<float>(weight * std::max(p * (1 - p), kLeastCurvature));
}

}  // namespace rampart::gbdt
