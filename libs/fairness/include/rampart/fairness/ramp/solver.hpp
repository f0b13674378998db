#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/stats/metrics.hpp"

/// The ramp (papers/003): the post-processor that changes given scores least under statistical
/// parity.
///
/// For rows with scores f in [-1, 1] (an estimate of 2·P(favourable) - 1), weights w summing to W,
/// groups k with share p_k = W_k / W, find P(approve) q in [0, 1] for each row:
///   minimise    sum w/W · (gamma/2 · (q - offset)^2 - f·q)
///   subject to  |r_k - rho| <= epsilon / 2   for the weighted mean r_k of every group's q (eq. 6)
///               overall.lo <= sum p_k r_k <= overall.hi   (a budget)
/// offset 0 is the paper's regulariser; 1/2 the centred one, which does not push towards declines.
///
/// Solved exactly, not by gradient steps. The minimiser is
///   q = clip((f - t_k) / gamma + offset, 0, 1)   (eq. 1)
/// and the rate h_k(t) of a group is a nonincreasing polyline with knots f + gamma·offset and
/// f - gamma·(1 - offset) (gamma = 0: a staircase, whose risers are ties decided by a coin):
///   1. sort each group once; prefix sums give the polyline, its value and its inverse in O(log n)
///   2. for a window [a, a + epsilon]: r_k = clip(h_k(nu), a, a + epsilon), t_k in h_k^-1(r_k)
///   3. free rho: the window with sum p_k (t_k - nu) = 0, the zero of a monotone function of a
///   4. budget: the nu (one shift for everybody) whose overall rate meets it; where that jumps,
///      the two sides are mixed, which stays optimal because both are
/// A dual point made from the t_k bounds the optimum from below: `gap` proves the solution.
namespace rampart::fairness {

enum class Regulariser { kCentred, kPaper };

struct RampProblem {
    std::span<const double> score;   // [n] in [-1, 1]
    std::span<const int32_t> group;  // [n] in 0 … groups-1; empty when groups = 1
    size_t groups = 1;               // 1 … limits::kMaxGroups, none empty
    std::span<const float> weight;   // [n] finite, > 0; empty: all 1
};

struct RampParams {
    double gamma = 0.1;              // 0 (threshold, ties randomised) or in [1e-6, 100]
    double epsilon = 0;              // [0, 1]: allowed max - min of the rates
    std::optional<double> rho = {};  // [0, 1]: centre of the rates; nullopt: the best one
    stats::Interval overall{0, 1};   // within [0, 1]: bounds on the overall approval rate
    Regulariser regulariser = Regulariser::kCentred;
};

struct RampSolution {
    model::RampRule rule;       // thresholds and ties by group index
    std::vector<double> rates;  // [groups] of the rule on the fitting rows
    double overall_rate = 0;
    double rho = 0;           // centre of the window that the rates lie in
    double objective = 0;     // primal, of the rule on the fitting rows
    double dual = 0;          // a lower bound on every feasible rule's objective
    double gap = 0;           // objective - dual; 0 but for rounding
    double mean_product = 0;  // sum w/W · f·q: agreement with the scores, to compare gammas by
};

/// O(n log n). Does not depend on row order or on how groups are numbered (but for rounding).
/// Errors: sizes, ranges (the row is named), an empty group, an overall range that no window can
/// meet.
base::Result<RampSolution> solve_ramp(const RampProblem& problem, const RampParams& params);

}  // namespace rampart::fairness
