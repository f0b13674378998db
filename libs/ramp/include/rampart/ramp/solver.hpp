#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/stats/metrics.hpp"

/// The ramp (Alabdulmohsin and Lucic 2021): the post-processor that changes given scores least
/// under parity.
///
/// For rows with scores f in [-1, 1] (an estimate of 2·P(favourable) - 1), weights w summing to W,
/// groups k with share p_k = W_k / W, find P(approve) q in [0, 1] for each row:
///   minimise    sum w/W · (gamma/2 · (q - offset)^2 - (f - price)·q)
///   subject to  |r_k - rho_s| <= epsilon_k / 2   for every group k of every stratum s (eq. 6)
///               overall.lo <= mean of q <= overall.hi   (a budget)
/// r_k is the weighted mean of z·q over the group: z = 1 for statistical parity, (f + 1)/2 over its
/// mean for equal opportunity. offset 0 is the paper's regulariser; 1/2 the centred one, which does
/// not push towards declines.
///
/// Solved exactly, not by gradient steps. The minimiser is
///   q = clip((f - nu - tau_k·z) / gamma + offset, 0, 1)   (eq. 1)
/// and the rate h_k(tau) of a group is a nonincreasing polyline with knots where rows enter and
/// leave the slope (gamma = 0: a staircase, whose risers are ties decided by a coin):
///   1. sort each group once; prefix sums give the polyline at any nu and tau in O(log n)
///   2. for windows around rho: r_k = clip(h_k(0), rho ± epsilon_k/2), tau_k in h_k^-1(r_k)
///   3. free rho: the one with sum p_k tau_k = 0, the zero of a monotone function of rho; that
///      solves Definition 1 exactly, where the paper tries values
///   4. budget: the nu (one shift for all rows) whose overall rate meets it; where that jumps,
///      the two sides are mixed, which stays optimal because both are
/// Equalized odds asks two rates of each group, with multipliers for both: there the dual is
/// maximised as in moments.hpp, at O(log n) a step.
/// A dual point made from the tau_k bounds the optimum from below: `gap` proves the solution.
namespace rampart::ramp {

enum class Regulariser { kCentred, kPaper };

enum class RampCriterion {
    kStatisticalParity,  // approval rates
    kCovariance,         // |C(q, 1_S | X_k)| <= epsilon in every stratum X_k (appendix E.1)
    kEqualOpportunity,   // approval among the favourable, whose share the scores estimate
    kEqualizedOdds,      // that and approval among the others
};
std::string_view to_string(RampCriterion criterion);

struct RampProblem {
    std::span<const double> score;   // [n] in [-1, 1]
    std::span<const int32_t> group;  // [n] in 0 … groups-1; empty when groups = 1
    size_t groups = 1;               // 1 … limits::kMaxGroups, none empty
    std::span<const float> weight;   // [n] finite, > 0; empty: all 1
    /// [groups] 0 … S-1, none without groups: parity is asked within each stratum, which has a
    /// centre of its own (conditional parity; the subgroups X_k of appendix E). Empty: one stratum.
    std::span<const int32_t> stratum = {};
};

struct RampParams {
    /// 0 (threshold, ties randomised) or in [1e-6, 100]. kEqualizedOdds: not 0, which is what
    /// group_thresholds.hpp is for.
    double gamma = 0.1;
    double epsilon = 0;              // [0, 1]: allowed max - min of the rates
    std::optional<double> rho = {};  // [0, 1]: centre of the rates; nullopt: the best one
    stats::Interval overall{0, 1};   // within [0, 1]: bounds on the overall approval rate
    Regulariser regulariser = Regulariser::kCentred;
    /// kCovariance: strata of one or two groups, S either of the two; epsilon bounds the
    /// covariance, which for shares p and 1 - p is p (1 - p) times the rates' difference; centres
    /// are free, and epsilons empty. kEqualOpportunity, kEqualizedOdds: (f + 1)/2 is P(favourable),
    /// calibrated in every group, and not 0 (nor, for the latter, 1) for a whole group.
    RampCriterion criterion = RampCriterion::kStatisticalParity;
    std::vector<double> epsilons = {};  // [groups] in [0, 1], instead of epsilon; empty: it
    /// kEqualizedOdds: [0, 1], centre of the approval rates among the others (rho: among the
    /// favourable); nullopt: the best one.
    std::optional<double> rho_negative = {};
    /// [-1, 1]: score at which an approval is worth as much as a decline. It moves all thresholds
    /// and leaves (f + 1)/2 the P(favourable) that rates are about: 1/3 where one default costs
    /// as much as two repaid loans gain.
    double price = 0;
};

struct RampSolution {
    model::RampRule rule;       // thresholds, ties and slopes by group index
    std::vector<double> rates;  // [groups] approval, of the rule on the fitting rows
    double overall_rate = 0;
    double rho = 0;                        // centre of the first stratum's window
    std::vector<double> centres;           // [strata] of the windows that the rates r_k lie in
    std::vector<double> negative_centres;  // [strata] kEqualizedOdds: of those among the others
    double objective = 0;                  // primal, of the rule on the fitting rows
    double dual = 0;                       // a lower bound on every feasible rule's objective
    double gap = 0;                        // objective - dual; 0 but for rounding
    double mean_product = 0;  // sum w/W · f·q: agreement with the scores, to compare gammas by
    /// [groups] approval expected among the favourable and the others, with P(favourable) = (f +
    /// 1)/2; NaN where there are none.
    std::vector<double> true_positive_rates, false_positive_rates;
    /// [strata] C(q, 1_S | X_k), S the later of a stratum's two groups; 0 with one. kCovariance.
    std::vector<double> covariances;
};

/// Solves one problem in O(n log n): 10^6 rows take some 50 ms. Does not depend on row order or on
/// how groups are numbered (but for rounding). Errors: sizes, ranges (the row is named), an empty
/// group, strata that the criterion cannot have, an overall range that no window can meet (of
/// equalized odds: failed_precondition "infeasible", with by how much).
base::Result<RampSolution> solve_ramp(const RampProblem& problem, const RampParams& params);

/// Returns one solution for each of params, which may differ in everything: a whole curve over
/// epsilon or gamma for one sort of the rows, and O(log n) to O(n) each. The error names the place
/// in params.
base::Result<std::vector<RampSolution>> solve_ramps(const RampProblem& problem,
                                                    std::span<const RampParams> params);

}  // namespace rampart::ramp
