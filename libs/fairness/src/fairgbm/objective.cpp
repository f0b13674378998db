#include "rampart/fairness/fairgbm/objective.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/gbdt/log_loss.hpp"
#include "rampart/model/ensemble.hpp"

namespace rampart::fairness {
namespace {

constexpr float kSmallestHessian = 1e-12f;

double log1p_exp(double x) {
    return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

double logit(double p) { return std::log(p / (1 - p)); }

/// Where a (label, group) cell stands in an array of 2·groups.
size_t cell_of(const dataset::Dataset& data, size_t row) {
    return data.label[row] * data.group_names.size() + static_cast<size_t>(data.group[row]);
}

/// The cell of the rows that a constraint speaks of: FPR label 0, FNR label 1.
size_t cell_of(const ConstraintName& name, size_t groups) {
    return (name.fpr ? 0 : groups) + name.group;
}

std::vector<double> cell_weights(const dataset::Dataset& data) {
    std::vector<double> weights(2 * data.group_names.size());
    for (size_t i = 0; i < data.rows(); ++i) weights[cell_of(data, i)] += data.weight_of(i);
    return weights;
}

/// Weighted share of wrong decisions in every (label, group) cell; 0 in an empty cell, which no
/// constraint reads.
std::vector<double> error_rates(const dataset::Dataset& data, double centre,
                                std::span<const double> scores) {
    std::vector<double> wrong(2 * data.group_names.size()), weight(wrong.size());
    for (size_t i = 0; i < data.rows(); ++i) {
        const size_t cell = cell_of(data, i);
        const bool approved = scores[i] >= centre;
        weight[cell] += data.weight_of(i);
        if (approved != (data.label[i] == 1)) wrong[cell] += data.weight_of(i);
    }
    for (size_t cell = 0; cell < wrong.size(); ++cell)
        if (weight[cell] > 0) wrong[cell] /= weight[cell];
    return wrong;
}

std::string_view metric_name(bool fpr) { return fpr ? "false positive" : "false negative"; }

}  // namespace

base::Status validate(const ParityConstraint& c) {
    if (!c.fpr && !c.fnr)
        return base::invalid_argument("no_constraint",
                                      "nothing is constrained: ask for fpr, fnr or both");
    if (!(c.tolerance >= 0 && c.tolerance < 1))
        return base::out_of_range("bad_tolerance", "tolerance {} is outside [0, 1)", c.tolerance);
    if (!(c.multiplier_learning_rate > 0 && c.multiplier_learning_rate <= 1e6))
        return base::out_of_range("bad_multiplier_learning_rate",
                                  "multiplier learning rate {} is outside (0, 1e6]",
                                  c.multiplier_learning_rate);
    if (!(c.multiplier_cap > 0 && c.multiplier_cap <= 1))
        return base::out_of_range("bad_multiplier_cap", "multiplier cap {} is outside (0, 1]",
                                  c.multiplier_cap);
    if (!(c.proxy_margin > 0 && c.proxy_margin <= 100))
        return base::out_of_range("bad_proxy_margin", "proxy margin {} is outside (0, 100]",
                                  c.proxy_margin);
    if (!(c.threshold > 0 && c.threshold < 1))
        return base::out_of_range("bad_threshold", "threshold {} is outside (0, 1)", c.threshold);
    return base::ok();
}

std::vector<ConstraintName> constraint_names(const ParityConstraint& constraint, size_t groups) {
    std::vector<ConstraintName> names;
    for (const bool fpr : {true, false})
        if (fpr ? constraint.fpr : constraint.fnr)
            for (size_t k = 0; k < groups; ++k) names.push_back({fpr, k});
    return names;
}

base::Status check_groups(const dataset::Dataset& data, const ParityConstraint& constraint) {
    const size_t groups = data.group_names.size();
    if (groups < 2 || data.group.size() != data.rows())
        return base::invalid_argument("too_few_groups",
                                      "parity needs at least two protected groups, the data have "
                                      "{}: name protected columns in the "
                                      "schema",
                                      data.group.empty() ? 0 : groups);
    const auto weights = cell_weights(data);
    for (const auto& name : constraint_names(constraint, groups))
        if (weights[cell_of(name, groups)] <= 0)
            return base::invalid_argument("group_without_label",
                                          "group '{}' has no row with the {} label: its {} rate "
                                          "does not exist; merge it with another "
                                          "group, leave its rows out or do not constrain this rate",
                                          data.group_names[name.group],
                                          name.fpr ? "unfavourable" : "favourable",
                                          metric_name(name.fpr));
    return base::ok();
}

ParityRates parity_rates(const dataset::Dataset& data, const ParityConstraint& constraint,
                         std::span<const double> scores) {
    RAMPART_CHECK(scores.size() == data.rows());
    const size_t groups = data.group_names.size();
    const auto errors = error_rates(data, logit(constraint.threshold), scores);
    ParityRates result;
    for (const auto& name : constraint_names(constraint, groups))
        result.rates.push_back(errors[cell_of(name, groups)]);
    for (auto first = result.rates.begin(); first != result.rates.end();
         first += static_cast<std::ptrdiff_t>(groups)) {
        const auto [lo, hi] =
            std::minmax_element(first, first + static_cast<std::ptrdiff_t>(groups));
        result.gap = std::max(result.gap, *hi - *lo);
    }
    result.log_loss = gbdt::mean_log_loss(data, scores);
    return result;
}

base::Result<FairGbmObjective> FairGbmObjective::create(const dataset::Dataset& data,
                                                        const ParityConstraint& constraint) {
    RAMPART_RETURN_IF_ERROR(validate(constraint));
    RAMPART_RETURN_IF_ERROR(dataset::validate(data));
    RAMPART_RETURN_IF_ERROR(check_groups(data, constraint));
    return FairGbmObjective(data, constraint);
}

FairGbmObjective::FairGbmObjective(const dataset::Dataset& data, const ParityConstraint& constraint)
    : data_(&data),
      constraint_(constraint),
      groups_(data.group_names.size()),
      shift_(std::log(std::expm1(constraint.proxy_margin))),
      centre_(logit(constraint.threshold)),
      label_weight_(cell_weights(data)),
      names_(constraint_names(constraint, groups_)),
      multipliers_(names_.size(), 0.0) {
    for (const double weight : label_weight_) total_ += weight;
}

double FairGbmObjective::initial_score() const {
    double ones = 0;
    for (size_t k = 0; k < groups_; ++k) ones += label_weight_[groups_ + k];
    return logit(ones / total_);  // both labels are there: create() checked
}

double FairGbmObjective::unit(size_t c) const {
    return label_weight_[cell_of(names_[c], groups_)] / total_;
}

void FairGbmObjective::set_multipliers(std::vector<double> multipliers) {
    RAMPART_CHECK(multipliers.size() == names_.size());
    multipliers_ = std::move(multipliers);
    for (size_t c = 0; c < names_.size(); ++c)
        multipliers_[c] = std::clamp(multipliers_[c], 0.0, constraint_.multiplier_cap * unit(c));
}

/// What multiplies w_i · proxy_i in the Lagrangian, by (label, group) cell: W / W_k times the
/// coefficient of r_k.
std::vector<double> FairGbmObjective::row_coefficients(std::span<const double> scores) const {
    const auto errors = error_rates(*data_, centre_, scores);
    std::vector<double> coefficients(2 * groups_, 0.0);
    for (size_t first = 0; first < names_.size(); first += groups_) {  // one metric after the other
        size_t worst = first;
        double sum = 0;
        for (size_t c = first; c < first + groups_; ++c) {
            if (errors[cell_of(names_[c], groups_)] > errors[cell_of(names_[worst], groups_)])
                worst = c;
            sum += multipliers_[c];
        }
        for (size_t c = first; c < first + groups_; ++c) {
            const size_t cell = cell_of(names_[c], groups_);
            const double coefficient = c == worst ? sum - multipliers_[c] : -multipliers_[c];
            coefficients[cell] = coefficient * total_ / label_weight_[cell];
        }
    }
    return coefficients;
}

void FairGbmObjective::prepare(std::span<const double> scores) {
    coefficients_ = row_coefficients(scores);
}

void FairGbmObjective::gradients_of_rows(std::span<const double> scores, size_t first,
                                         std::span<float> g, std::span<float> h) const {
    for (size_t i = 0; i < g.size(); ++i) {
        const size_t row = first + i;
        const bool positive = data_->label[row] == 1;
        const double p = model::sigmoid(scores[row]);
        double slope = p - positive, curvature = p * (1 - p);
        if (const double c = coefficients_[cell_of(*data_, row)]; c != 0) {
            const double f = scores[row] - centre_;
            const double wrong = model::sigmoid(positive ? shift_ - f : shift_ + f);
            slope += c * (positive ? -wrong : wrong);
            // a negative curvature would not be convex
            curvature += std::max(c, 0.0) * wrong * (1 - wrong);
        }
        const double w = data_->weight_of(row);
        g[i] = static_cast<float>(w * slope);
        h[i] = std::max(static_cast<float>(w * curvature), kSmallestHessian);
    }
}

void FairGbmObjective::after_tree(int, std::span<const double> scores) {
    auto rates = parity_rates(*data_, constraint_, scores);
    auto next = multipliers_;
    for (size_t first = 0; first < names_.size(); first += groups_) {
        const auto begin = rates.rates.begin() + static_cast<std::ptrdiff_t>(first);
        const double worst = *std::max_element(begin, begin + static_cast<std::ptrdiff_t>(groups_));
        for (size_t c = first; c < first + groups_; ++c)
            next[c] += constraint_.multiplier_learning_rate * unit(c) *
                       (worst - rates.rates[c] - constraint_.tolerance);
    }
    set_multipliers(std::move(next));
    trace_.push_back({std::move(rates), multipliers_});
}

double FairGbmObjective::lagrangian(std::span<const double> scores) const {
    const auto coefficients = row_coefficients(scores);
    double sum = 0;
    for (size_t i = 0; i < data_->rows(); ++i) {
        const bool positive = data_->label[i] == 1;
        const double f = scores[i] - centre_;
        const double loss = log1p_exp(positive ? -scores[i] : scores[i]);
        const double proxy = log1p_exp(positive ? shift_ - f : shift_ + f);
        sum += data_->weight_of(i) * (loss + coefficients[cell_of(*data_, i)] * proxy);
    }
    return sum;
}

}  // namespace rampart::fairness
