#pragma once

#include <cstddef>
#include <cstdint>

namespace rampart::gbdt {

/// Computes g = w·(p - y) and h = w·p·(1 - p), p = sigmoid(score), to a few units in the last place
/// of a float, also for p near 0 or 1; h is at least 1e-16·w. weights: nullptr for all 1.
void logistic_gradients(const double* scores, const uint8_t* labels, const float* weights, size_t n,
                        float* g, float* h);

}  // namespace rampart::gbdt
