#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ramp/solver.hpp"
#include "rampart/stats/metrics.hpp"

/// The ramp under constraints on any means of z·q (Alabdulmohsin and Lucic 2021, appendix B.2): the
/// general form of solver.hpp, whose constraints are separable, and of blind.hpp, whose are not.
///
/// For rows with scores f, weights w summing to W, features z and a block b each, find q in [0, 1]:
///   minimise    sum w/W · (gamma/2 · (q - offset)^2 - f·q)
///   subject to  lo_j <= M_j - c_family(j) <= hi_j   for every moment j
///               overall.lo <= mean of q <= overall.hi
/// M_(b·d + j) = sum over rows of block b of w/W · z_j·q; each family's centre c is free.
///
/// The dual is a concave, piecewise quadratic function of one multiplier a moment, those of a
/// family adding up to 0, and nu for the overall rate; the minimiser is
///   q = clip((f - nu - z·t_b) / gamma + offset, 0, 1).
/// It is maximised by a damped Newton method: each step solves a quadratic program in the
/// multipliers by active sets; on the right piece it is exact. From a large gamma, and of many rows
/// a sample, it gets near; on all rows a few steps remain.
namespace rampart::reference {

struct MomentProblem {
    std::span<const double> score;     // [n] finite
    std::span<const float> weight;     // [n] finite, > 0; empty: all 1
    std::span<const int32_t> block;    // [n] in 0 … blocks-1; empty when blocks = 1
    size_t blocks = 1;                 // >= 1
    std::span<const double> features;  // [n * features_per_row] finite, row by row
    size_t features_per_row = 1;       // blocks · features_per_row <= 2 · limits::kMaxGroups
};

struct MomentWindow {
    double lo = 0, hi = 0;  // finite, lo <= hi
    int32_t family = -1;    // 0, 1, …, every number used; -1: lo <= M_j <= hi, without a centre
};

struct MomentParams {
    double gamma = 0.1;                      // [1e-6, 100]
    std::vector<MomentWindow> windows = {};  // [blocks · features_per_row]
    stats::Interval overall{0, 1};           // within [0, 1]
    ramp::Regulariser regulariser = ramp::Regulariser::kCentred;
};

struct MomentSolution {
    std::vector<double> multipliers;  // [blocks · features_per_row] t
    double shift = 0;                 // nu
    std::vector<double> moments;      // [blocks · features_per_row] M
    std::vector<double> centres;      // [families] c
    double overall_rate = 0;
    double objective = 0;     // objective of the rule on these rows
    double dual = 0;          // a lower bound on every feasible rule's
    double gap = 0;           // 0 but for rounding, which gamma divides: 1e-6 leaves some 1e-10
    double violation = 0;     // largest by which a window is left: rounding too
    double mean_product = 0;  // sum w/W · f·q
};

/// Solves the problem. Deterministic, one thread. Some passes of O(n · d²) each, d features a row.
/// Errors: sizes and ranges (row or moment named); failed_precondition "infeasible": no rule keeps
/// the windows, says by how much they all would have to be wider at least; internal
/// "ramp_not_solved": rounding was in the way (never met).
base::Result<MomentSolution> solve_moments(const MomentProblem& problem,
                                           const MomentParams& params);

}  // namespace rampart::reference
