#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "rampart/fairgbm/objective.hpp"

namespace rampart::fairgbm {

/// How the rows of each cell are pushed. A row's term of the Lagrangian is
/// push · proxy(direction · (score - threshold)), times its weight.
struct CellPushes {
    std::array<float, 256> push{};       // may be negative with paper_compat only
    std::array<float, 256> direction{};  // 1: against approvals, -1: against declines
};

/// Rows as arrays of n.
struct PushedRows {
    const double* scores;
    const uint8_t* cells;
    const uint8_t* labels;
    const float* weights;  // nullptr: all 1
    size_t n;
};

/// Adds the term's derivatives to those of the log loss, which g and h hold: g to g, the curvature
/// where it is positive to h (with `curvature`).
void add_proxy(Proxy proxy, double margin, double threshold, bool curvature,
               const CellPushes& pushes, const PushedRows& rows, float* g, float* h);

/// The term itself, for one row.
double proxy_loss(Proxy proxy, double margin, double z);

/// Sum of w·(p - y)^2 by the log loss' gradients w·(p - y).
double brier_sum(const float* g, const float* weights, size_t n);

/// sums[cell] += weight of the rows with score >= threshold.
void add_approved(const PushedRows& rows, double threshold, double* sums, size_t cells);

}  // namespace rampart::fairgbm
