#pragma once

#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/ramp/solver.hpp"

/// The ramp where the group may not be known when deciding (Alabdulmohsin and Lucic 2021, appendix
/// B.2, with z_i general): a rule in the score and in P(group | features).
///
/// With P_k = P(group k | x) from a model of its own, eta = (f + 1)/2 and means over all rows:
///   minimise    mean of gamma/2 · (q - offset)^2 - f·q
///   subject to  |M_k - rho| <= epsilon_k / 2 for every group k,  M_k = mean of z_k·q,
///               z_k = P_k / its mean (statistical parity), P_k·eta / its mean (equal opportunity),
///               and P_k·(1 - eta) / its mean with a centre of its own besides (equalized odds)
/// so that constraints hold in expectation over the group. The rule is
///   q = clip((f - P·(pulls + eta·positive_pulls + (1 - eta)·negative_pulls) - threshold) / gamma
///            + offset, 0, 1).
/// Solved by moments.hpp's Newton method; `gap` proves it.
namespace rampart::ramp {

struct BlindProblem {
    std::span<const double> score;      // [n] in [-1, 1]
    std::span<const double> posterior;  // [n * groups] P_k, row by row: >= 0, a row's add up to 1
    size_t groups = 1;                  // 1 … limits::kMaxGroups, none without posterior anywhere
    std::span<const float> weight = {};  // [n] finite, > 0; empty: all 1
    /// [n * groups] P(group k | x, unfavourable), for equalized odds; then, and with `given_label`,
    /// posterior is P(group k | x, favourable). Rates among the favourable are then right even
    /// where, of two alike, the group says who is.
    std::span<const double> posterior_unfavourable = {};
    bool given_label = false;  // equal opportunity and equalized odds only
};

struct BlindSolution {
    model::RampRule rule;  // one threshold, for f less the pulls
    /// [groups] What P(group k | x) takes off the score: as it is, times eta, times 1 - eta. Zeros
    /// where the criterion has none.
    std::vector<double> pulls, positive_pulls, negative_pulls;
    /// [groups] of the rule on the fitting rows, expected over the group (and over eta).
    std::vector<double> rates, true_positive_rates, false_positive_rates;
    double overall_rate = 0;
    double rho = 0, rho_negative = 0;  // centres; the second of equalized odds
    double objective = 0, dual = 0, gap = 0, mean_product = 0;  // as RampSolution's
    /// The same figure for the best rule that knows the group, on these rows with the group drawn
    /// from the posterior: never worse, and what being blind costs is the difference. NaN with
    /// given_label, and so are the approval rates above.
    double aware_objective = 0, aware_mean_product = 0;

    /// P(approve); posteriors: [groups], the second as in the problem.
    double apply(double score, std::span<const double> posterior,
                 std::span<const double> posterior_unfavourable = {}) const;
};

/// Solves the problem. params: gamma in [1e-6, 100], a criterion other than kCovariance. Some
/// passes of O(n · groups²).
/// Errors: sizes, ranges (row named), a group that no row may be of (or none favourable, or none
/// not, where the criterion speaks of them), failed_precondition "infeasible".
base::Result<BlindSolution> solve_blind_ramp(const BlindProblem& problem, const RampParams& params);

}  // namespace rampart::ramp
