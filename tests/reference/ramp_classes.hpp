#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"

/// The ramp for more than two answers: changes class scores least so that every class is given
/// equally often in all groups.
///
/// For rows with scores f in [-1, 1]^C, weights w summing to W, groups k with share p_k, find for
/// each row the probabilities q of the C classes (q >= 0, summing to 1):
///   minimise    sum w/W · (gamma/2 · |q|^2 - f·q)
///   subject to  |r_kc - rho_c| <= epsilon / 2   for group k's mean r_kc of q_c, rho_c free
/// which allows exactly: max over k of r_kc - min over k of r_kc <= epsilon, for every class. The
/// minimiser is the Euclidean projection of (f - t_k) / gamma onto the simplex, so that K·C
/// thresholds say all. With two classes it is solver.hpp's problem, with f_1 - f_2 as score,
/// 2·gamma and the centred regulariser.
///
/// The paper (Alabdulmohsin and Lucic 2021) leaves several classes to a wrapper around its binary
/// procedure, which alternates between the classes' ramps and the simplex (ADMM), with a rate of
/// each class that is frozen after the first round and a fixed number of rounds. Here the joint
/// problem is solved instead, by its dual: concave and differentiable (but for epsilon·|t|) in the
/// thresholds, subject to sum_k p_k t_kc = 0 (rho is free).
///  1. t = lambda - mu, both > 0, with a logarithmic barrier kappa · p_k · (ln lambda + ln mu);
///     epsilon = 0: t alone, no barrier
///  2. Newton's steps with exact line search: the Hessian is one C x C block a group, plus rho
///  3. kappa falls until the gap, at most 2·C·kappa, is below the tolerance
/// It stops when residual and gap are within the tolerance, or after max_steps; `converged` says
/// which.
namespace rampart::reference {

inline constexpr size_t kMaxRampClasses = 32;

struct MultiClassProblem {
    std::span<const double> score;   // [n * classes] by row, in [-1, 1]
    size_t classes = 2;              // 2 … kMaxRampClasses
    std::span<const int32_t> group;  // [n] in 0 … groups-1; empty when groups = 1
    size_t groups = 1;               // 1 … limits::kMaxGroups, none empty
    std::span<const float> weight;   // [n] finite, > 0; empty: all 1
};

struct MultiClassParams {
    double gamma = 0.1;        // [1e-3, 100]
    double epsilon = 0;        // 0 or [1e-6, 1]: allowed max - min of a class's rates
    double tolerance = 1e-9;   // [1e-12, 0.1]: of residual and gap
    uint32_t max_steps = 500;  // 1 … 100,000
};

struct MultiClassSolution {
    double gamma = 0;
    size_t classes = 0, groups = 0;
    std::vector<double> thresholds;  // [groups * classes] by group
    std::vector<double> rates;       // [groups * classes] on the fitting rows
    std::vector<double> centres;     // [classes] middle of each class's rates
    double objective = 0;            // objective of the rule on the fitting rows
    double dual = 0;                 // a lower bound on every feasible rule's objective
    double gap = 0;                  // objective - dual
    double residual = 0;             // largest excess over epsilon of max - min of a class's rates
    uint32_t steps = 0;
    bool converged = false;

    /// Computes the classes' probabilities of a row; score and out: [classes]. Safe from many
    /// threads.
    void apply(std::span<const double> score, size_t group, std::span<double> out) const;
};

/// Solves the problem in O(n C (C + log C)) a step; some fifty steps. Deterministic. Errors: sizes
/// and ranges (the row is named), an empty group.
base::Result<MultiClassSolution> solve_multi_class_ramp(const MultiClassProblem& problem,
                                                        const MultiClassParams& params);

}  // namespace rampart::reference
