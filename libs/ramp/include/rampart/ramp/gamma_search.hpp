#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/ramp/solver.hpp"

/// The ramp's width by K-fold cross-validation on the fitting rows.
///
/// The paper picks gamma (and rho) on a validation set of its own. The exact solver is cheap enough
/// to use the fitting rows: every gamma is fitted on all folds but one and judged on that one, in
/// which its rule has seen no row, for every fold. Folds are dealt out evenly within groups (and
/// labels), by seed.
///
/// Judged by: accuracy of the decisions drawn from the rule, where labels are given, a right
/// approval counted 1 - price and a right decline 1 + price (RampParams::price; 0: alike); else by
/// the mean of q·(f - price), the agreement with the scores that the ramp itself maximises. The
/// best figure wins; of equal ones (to 1e-12) the smallest gamma, which draws least.
namespace rampart::ramp {

struct GammaSearch {
    std::vector<double> gammas{.01, .02, .05, .1, .2, .5, 1};  // 1 … 64, each as RampParams::gamma
    size_t folds = 5;                                          // 2 … 100
    uint64_t seed = 0;
    std::span<const uint8_t> label = {};  // [n] 1 favourable, 0 not; empty: not known
};

/// Out-of-fold figures of one gamma.
struct GammaFigure {
    double gamma = 0;
    double mean_product = 0;         // weighted mean of f·q
    std::optional<double> accuracy;  // with labels: weighted mean of P(decision = label), as above
    /// Largest over strata of max - min of the groups' rates that the criterion speaks of: approval
    /// (statistical parity), expected true and false positive rates under the scores (equal
    /// opportunity, equalized odds: the larger); covariance: the largest |C(q, 1_S | X_k)|. Not
    /// what the constraint says where epsilons differ by group.
    double bias = 0;
    double fold_deviation = 0;  // standard deviation over folds of what is judged by
};

struct GammaChoice {
    double gamma = 0;
    std::vector<GammaFigure> figures;  // in the order of the gammas
    RampSolution solution;             // solution of that gamma, on all rows
};

/// Chooses gamma; params.gamma is not read. Costs folds + 1 times solve_ramps over the gammas.
/// Errors: those of solve_ramp; gammas, folds and labels out of range; failed_precondition
/// "small_group": a group with fewer than two rows.
base::Result<GammaChoice> choose_gamma(const RampProblem& problem, const RampParams& params,
                                       const GammaSearch& search);

}  // namespace rampart::ramp
