#include "reference/parametric_policy.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "rampart/numeric/cma_es.hpp"
#include "reference/reasons.hpp"

namespace rampart::reference {
namespace {

using base::make_error;
using Eigen::ArrayXd;
using Eigen::MatrixXd;
using Eigen::VectorXd;

using Columns = Eigen::Map<const MatrixXd>;

Eigen::Index index(size_t n) { return static_cast<Eigen::Index>(n); }

base::Status check_columns(const std::vector<std::vector<double>>& columns, size_t rows) {
    if (columns.empty() || columns.size() >= numeric::kMaxDimension) {
        return make_error(Reason::kBadPolicy, "columns: {}; give 1 to {}", columns.size(),
                          numeric::kMaxDimension - 1);
    }
    if (rows == 0) return make_error(Reason::kBadPolicy, "columns: no rows");
    for (size_t j = 0; j < columns.size(); ++j) {
        if (columns[j].size() != rows || !std::all_of(columns[j].begin(), columns[j].end(),
                                                      [](double x) { return std::isfinite(x); })) {
            return make_error(Reason::kBadPolicy, "column {}: needs {} finite numbers", j, rows);
        }
    }
    return base::ok();
}

}  // namespace

base::Result<LogisticPolicy> LogisticPolicy::create(const std::vector<std::vector<double>>& columns,
                                                    std::vector<double> base) {
    LogisticPolicy out;
    out.features_ = columns.size();
    out.rows_ = columns.empty() ? 0 : columns[0].size();
    RAMPART_RETURN_IF_ERROR(check_columns(columns, out.rows_));
    if (!base.empty() &&
        (base.size() != out.rows_ ||
         !std::all_of(base.begin(), base.end(), [](double x) { return std::isfinite(x); }))) {
        return make_error(Reason::kBadPolicy, "base: needs {} finite numbers, or none", out.rows_);
    }
    out.values_.reserve(out.rows_ * out.features_);
    for (const auto& column : columns)
        out.values_.insert(out.values_.end(), column.begin(), column.end());
    out.base_ = std::move(base);
    return out;
}

void LogisticPolicy::approve(std::span<const double> theta, std::span<double> out) const {
    const Columns x(values_.data(), index(rows_), index(features_));
    const Eigen::Map<const VectorXd> slopes(theta.data() + 1, index(features_));
    Eigen::Map<ArrayXd> pi(out.data(), index(rows_));
    pi.matrix().noalias() = x * slopes;
    if (!base_.empty()) pi += Eigen::Map<const ArrayXd>(base_.data(), index(rows_));
    // past +-700 exp leaves the doubles; the probability is 0 or 1 long before
    pi = 1 / (1 + (-(pi + theta[0])).max(-700).min(700).exp());
}

std::unique_ptr<ParametricPolicy> LogisticPolicy::on(std::span<const uint32_t> rows) const {
    auto out = std::unique_ptr<LogisticPolicy>(new LogisticPolicy);
    out->features_ = features_;
    out->rows_ = rows.size();
    out->values_.reserve(rows.size() * features_);
    for (size_t j = 0; j < features_; ++j) {
        for (const uint32_t i : rows) out->values_.push_back(values_[j * rows_ + i]);
    }
    if (!base_.empty()) {
        for (const uint32_t i : rows) out->base_.push_back(base_[i]);
    }
    return out;
}

std::vector<double> logits(std::span<const double> p) {
    std::vector<double> out;
    out.reserve(p.size());
    for (const double v : p) {
        const double inside = std::clamp(v, 1e-12, 1 - 1e-12);
        out.push_back(std::log(inside / (1 - inside)));
    }
    return out;
}

base::Result<std::vector<double>> fit_logistic(const std::vector<std::vector<double>>& columns,
                                               std::span<const uint8_t> label, double ridge) {
    RAMPART_RETURN_IF_ERROR(check_columns(columns, label.size()));
    if (!(ridge >= 0 && std::isfinite(ridge))) {
        return make_error(Reason::kBadPolicy, "ridge: {} has to be 0 or more", ridge);
    }
    const Eigen::Index n = index(label.size()), d = index(columns.size()) + 1;
    MatrixXd x(n, d);
    x.col(0).setOnes();
    for (Eigen::Index j = 1; j < d; ++j) {
        x.col(j) = Eigen::Map<const VectorXd>(columns[static_cast<size_t>(j - 1)].data(), n);
    }
    VectorXd y(n);
    for (Eigen::Index i = 0; i < n; ++i) y[i] = label[static_cast<size_t>(i)] != 0 ? 1 : 0;
    VectorXd penalty = VectorXd::Constant(d, ridge);
    penalty[0] = 0;
    VectorXd theta = VectorXd::Zero(d);
    for (int step = 0; step < 50; ++step) {
        const ArrayXd pi = 1 / (1 + (-(x * theta).array()).max(-700).min(700).exp());
        const VectorXd gradient = x.transpose() * (y - pi.matrix()) - penalty.cwiseProduct(theta);
        const ArrayXd curvature = pi * (1 - pi);
        if (curvature.maxCoeff() < 1e-8) break;  // on its way to certainty about every row
        MatrixXd hessian = x.transpose() * (x.array().colwise() * curvature).matrix();
        hessian.diagonal() += penalty;
        VectorXd move = hessian.ldlt().solve(gradient);
        if (!move.allFinite()) break;
        move *=
            std::min(1.0, 5 / std::max(1e-300, move.cwiseAbs().maxCoeff()));  // no wild first steps
        theta += move;
        if (move.cwiseAbs().maxCoeff() < 1e-9)
            return std::vector<double>(theta.begin(), theta.end());
    }
    return base::make_error(Reason::kNoConvergence,
                            "logistic regression on {} rows does not converge: one "
                            "label only, or the labels are separable; give a ridge",
                            label.size());
}

void into_trust_region(std::span<const double> reference, double kappa, std::span<double> pi) {
    for (size_t i = 0; i < pi.size(); ++i) {
        const double s = reference[i], reach = kappa * std::min(s, 1 - s);
        pi[i] =
            std::max(std::min(pi[i], s + reach), s - reach);  // in this order NaN passes through
    }
}

}  // namespace rampart::reference
