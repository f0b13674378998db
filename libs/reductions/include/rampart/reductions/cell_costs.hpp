#pragma once

#include <span>
#include <vector>

#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/rate_system.hpp"
#include "rampart/reductions/oracle.hpp"

/// Constrained classification as weighted classification (Agarwal, Beygelzimer, Dudík, Langford,
/// Wallach, "A Reductions Approach to Fair Classification", ICML 2018, section 3.2), over cells.
///
/// Decisions with approval shares a cost, per unit of all weight W,
///   loss(a) = sum over cells of label 0 of W_c/W · 2t · a_c
///           + sum over cells of label 1 of W_c/W · 2(1 - t) · (1 - a_c)
/// t the threshold at which approving and declining cost the same: at 1/2 the share of errors.
/// The Lagrangian adds the constraints with their multipliers:
///   L(a, μ, λ) = loss(a) + sum over parity ( sum_k μ_k · R_k(a) - tolerance/2 · sum_k |μ_k| )
///                        + sum over targets of λ · (R(a) - τ)
/// "max - min <= tolerance" is: R_j - R_k <= tolerance for every ordered pair, each with a
/// multiplier λ_jk >= 0. What they add up to for one group is μ_j = sum_k λ_jk - λ_kj: signed, of
/// sum 0, and no less than sum |μ| / 2 of λ goes into it. So μ is all that a classifier needs to
/// know. Read with a centre: |R_k - ρ| <= tolerance / 2 for some free ρ, as in FairGBM's
/// multipliers. (The paper compares every group with the overall rate instead: its tolerance bounds
/// a distance of half to once the gap, as the groups are large or small, and not what the
/// constraint says.)
///
/// L is linear in a, hence a sum over rows: approving a row of cell c costs w · C_c / W,
///   C_c = ±(2t or 2(1 - t)) + W/W_c · κ_c,   κ_c = what μ and λ make of a_c
/// and the classifier that minimises L is the one that learns the labels 1[C_c < 0] with weights
/// w · |C_c|: 2m numbers say it all, m the number of groups.
namespace rampart::reductions {

/// Returns the number of multipliers: parity constraints in their order, by group compared; then
/// targets.
size_t multiplier_count(const fairness::RateSystem& system);

double decision_loss(const fairness::RateSystem& system, std::span<const double> approved,
                     double threshold);

/// values: of decisions with that loss.
double lagrangian(const fairness::RateSystem& system, const fairness::RateValues& values,
                  double loss, std::span<const double> multipliers);

/// Returns C, [cells]; 0 for a cell without rows.
std::vector<double> cell_costs(const fairness::RateSystem& system,
                               std::span<const double> multipliers, double threshold);

/// Returns the question that makes an oracle minimise the cost of approving: by row the label 1[C <
/// 0] and the weight w · |C|, their mean 1. Where C is next to nothing the weight is a millionth of
/// the mean: a learner wants weights above 0.
OracleQuestion relabelled(const fairness::RateSystem& system, const dataset::Dataset& data,
                          std::span<const double> costs);

}  // namespace rampart::reductions
