#pragma once

#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/fairness/rate_constraints.hpp"
#include "rampart/fairness/rate_system.hpp"
#include "rampart/model/policy.hpp"

/// Thresholds by group on the score of an unconstrained model: the post-processor of Hardt, Price
/// and Srebro ("Equality of opportunity in supervised learning", 2016) with relaxed constraints,
/// which Cruz and Hardt ("Unprocessing seven years of algorithmic fairness", 2024) found no learner
/// to beat where the group may be known when deciding.
///
/// A cell is the rows of one label in one group of the data; a[cell] is the weighted share of it
/// that is approved (rate_system.hpp).
///  1. The points (a[0], a[1]) that thresholds reach in a group are its ROC curve;
///     mixtures reach the curve's convex hull, for which its vertices are enough.
///  2. Variables: the weight of each vertex in its group's mixture; a centre for each parity
///     constraint.
///  3. Rates and cost are linear in a, and so in the weights. Parity: every group's rate lies
///     within tolerance / 2 of the centre; targets: a row each.
///  4. The least cost is found by linear programming, exactly; the solution is a vertex, so that
///     few groups mix more than two or three thresholds.
namespace rampart::fairness {

struct GroupThresholdParams {
    RateConstraints constraints{{ParityConstraint{}}, {}};
    /// What a row approved against its label, and one declined against it, costs. Finite, >= 0, not
    /// both 0. Both 1: the weighted error.
    double false_positive_cost = 1, false_negative_cost = 1;
};

/// The rule "approve iff score >= threshold", drawn with probability weight.
struct WeightedThreshold {
    double threshold = 0;  // +inf: approves none, -inf: approves all
    double weight = 1;     // > 0; a group's add up to 1
};

struct GroupThresholds {
    /// By group of the data (one for data without groups), then by falling threshold.
    std::vector<std::vector<WeightedThreshold>> groups;
    /// On the fitting rows, expected over the draw of thresholds; constraints hold to within 1e-7.
    RateValues values;
    double cost = 0;  // weighted mean over the fitting rows, expected
};

/// Fits the thresholds. scores: [n], higher means rather favourable, on any scale; rows with equal
/// scores are decided alike. Rather rows that the model has not learned from. Deterministic, O(n
/// log n) and a linear program of some hundred columns a group. Errors: data (dataset::validate),
/// constraints (RateSystem), costs and scores out of range; failed_precondition "infeasible": no
/// thresholds keep the constraints; says by how much all of them would have to be relaxed.
base::Result<GroupThresholds> fit_group_thresholds(const dataset::Dataset& data,
                                                   std::span<const double> scores,
                                                   const GroupThresholdParams& params);

/// Returns the scores that a learnt link of the ensemble compares with thresholds: 2 · P - 1 of
/// each row, in [-1, 1]. Fit on these what a policy is to apply.
std::vector<double> link_scores(const dataset::Dataset& data, const model::Ensemble& ensemble,
                                base::ThreadPool* pool = nullptr);

/// Returns the policy's link: its members are vectors of thresholds, one for each group, that share
/// out [0, 1] so that every group has its thresholds with their weights. The stricter rules of all
/// groups go together. group_names of the policy: those of the data, if there are at least two.
/// invalid_argument "bad_thresholds": they are not those of link_scores.
base::Result<model::LearnedLink> threshold_link(const GroupThresholds& thresholds,
                                                model::Ensemble ensemble);

}  // namespace rampart::fairness
