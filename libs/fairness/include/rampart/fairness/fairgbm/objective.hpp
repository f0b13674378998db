#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/gbdt/objective.hpp"

/// FairGBM (Cruz et al., ICLR 2023; papers/000): boosting under error-rate parity by dual ascent.
///
/// Vocabulary, for each constrained metric (FPR: approved among label 0; FNR: declined among label
/// 1) and group k of m; w are row weights, W their sum, W_k their sum over the group's rows with
/// the metric's label:
///   R_k   true rate: weighted share of those rows on the wrong side of the threshold
///   c_k   = max_a R_a - R_k - tolerance <= 0: the constraint (eq. 5)
///   r_k   proxy rate: weighted mean of log(1 + exp(±(f - threshold) + s)) over the same rows
///         (table 1), s = log(exp(margin) - 1): the proxy is `margin` on the threshold
///   λ_k   multiplier of c_k, in [0, cap · W_k / W]
/// One iteration:
///   1. descent: a tree on the gradient of  sum w·logloss + W · sum_k λ_k (r_j - r_k),
///      j = argmax_a R_a. The coefficient of r_j is the sum of the other λ_k (the derivative;
///      the paper's eq. 8 has a stray m - 1), of another r_k it is -λ_k. Where a coefficient is
///      positive its curvature joins the hessian.
///   2. ascent: λ_k += eta · W_k / W · c_k with the true rates of the new scores (eq. 9), then
///      back into its range.
///
/// Departures from the paper: j is the group that the *true* rates find worst. The argmax of the
/// proxies (as printed) can name another group; then a violated constraint exerts no force at all.
/// The ascent's step has the factor W_k / W, so that one eta suits rare and common cells (the push
/// on a row is λ_k W / W_k). The cap keeps the loss of every group's rows bounded below: with
/// λ_k > W_k / W a group would be driven the wrong way.
namespace rampart::fairness {

struct ParityConstraint {
    bool fpr = false;
    bool fnr = true;
    double tolerance = 0.01;                // [0, 1): allowed max - min of a rate over the groups
    double multiplier_learning_rate = 0.1;  // eta, in (0, 1e6]
    double multiplier_cap = 0.9;            // (0, 1], in units of W_k / W
    double proxy_margin = 1;                // > 0
    double threshold = 0.5;                 // (0, 1): approve iff sigmoid(score) >= threshold
};
base::Status validate(const ParityConstraint& constraint);

/// Every group has rows with the labels that the constraint speaks of (else its rate does not
/// exist): the error names the groups without. Also needs at least two groups.
base::Status check_groups(const dataset::Dataset& data, const ParityConstraint& constraint);

/// Which rate of which group. Vectors below are ordered FPR of all groups first, then FNR,
/// constrained ones only.
struct ConstraintName {
    bool fpr = false;
    size_t group = 0;
};
std::vector<ConstraintName> constraint_names(const ParityConstraint& constraint, size_t groups);

/// True rates on scored rows, and what they violate.
struct ParityRates {
    std::vector<double> rates;  // as constraint_names()
    double gap = 0;             // largest max - min over the constrained metrics
    double log_loss = 0;        // weighted mean
};
ParityRates parity_rates(const dataset::Dataset& data, const ParityConstraint& constraint,
                         std::span<const double> scores);

/// State after one tree.
struct FairGbmIteration {
    ParityRates train;                // of the scores after this tree
    std::vector<double> multipliers;  // after the ascent on them
};

/// The objective. Keeps a reference to the data, which must outlive it. One training run each; not
/// thread safe.
class FairGbmObjective : public gbdt::Objective {
  public:
    /// Validates constraint and groups.
    static base::Result<FairGbmObjective> create(const dataset::Dataset& data,
                                                 const ParityConstraint& constraint);

    std::string_view name() const override { return "fairgbm"; }
    double initial_score() const override;  // log-odds of the weighted mean label
    void prepare(std::span<const double> scores) override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;
    void after_tree(int iteration, std::span<const double> scores) override;

    const std::vector<double>& multipliers() const { return multipliers_; }
    /// As constraint_names(); clipped to their ranges.
    void set_multipliers(std::vector<double> multipliers);
    const std::vector<FairGbmIteration>& trace() const { return trace_; }

    /// The proxy Lagrangian at `scores`: what gradients() differentiates (while no argmax changes).
    double lagrangian(std::span<const double> scores) const;

  private:
    FairGbmObjective(const dataset::Dataset& data, const ParityConstraint& constraint);
    std::vector<double> row_coefficients(std::span<const double> scores) const;
    double unit(size_t c) const;  // W_k / W of constraint c

    const dataset::Dataset* data_;
    ParityConstraint constraint_;
    size_t groups_ = 0;
    double total_ = 0;                  // W
    double shift_ = 0, centre_ = 0;     // s; logit(threshold)
    std::vector<double> label_weight_;  // [2·m] W_k by label·m + group
    std::vector<ConstraintName> names_;
    std::vector<double> multipliers_;  // as names_
    std::vector<double> coefficients_; // of the iteration: by (label, group) cell
    std::vector<FairGbmIteration> trace_;
};

}  // namespace rampart::fairness
