#include "rampart/ope/impact_regression.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/base/check.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/random.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/ope/reasons.hpp"

namespace rampart::ope {
namespace {

using base::make_error;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr Index kBlockRows = 512;

Index signed_of(size_t n) { return static_cast<Index>(n); }

double weight_of(const RegressionData& data, size_t i) {
    if (std::isnan(data.impact[i])) return 0;
    return data.weight.empty() ? 1 : data.weight[i];
}

base::Status check_shapes(const RegressionData& data, Interval range,
                          const RegressionOptions& options) {
    const size_t n = data.impact.size();
    if (data.features > base::limits::kMaxFeatures || n > base::limits::kMaxRows ||
        data.x.size() != n * data.features || data.approved.size() != n ||
        (!data.weight.empty() && data.weight.size() != n)) {
        return make_error(
            Reason::kBadShape,
            "{} impacts, {} features (at most {}), {} feature values, {} actions, {} weights: give "
            "one row of features, one action and one weight (or no weights) for each impact",
            n, data.features, base::limits::kMaxFeatures, data.x.size(), data.approved.size(),
            data.weight.size());
    }
    if (!(options.ridge > 0 && options.ridge <= 1e6)) {
        return make_error(Reason::kBadRidge, "ridge is {}: must lie in (0, 1e6]", options.ridge);
    }
    if (!(range.lo < range.hi && std::isfinite(range.lo) && std::isfinite(range.hi))) {
        return make_error(base::Reason::kBadRange, "impacts in [{}, {}]: must be a finite interval",
                          range.lo, range.hi);
    }
    return base::ok();
}

base::Status check_values(const RegressionData& data) {
    size_t rows = 0;
    for (size_t i = 0; i < data.impact.size(); ++i) {
        const double weight = data.weight.empty() ? 1 : data.weight[i];
        if (data.approved[i] > 1 || std::isinf(data.impact[i]) || !(weight >= 0) ||
            std::isinf(weight)) {
            return make_error(
                Reason::kBadRegressionData,
                "row {}: action {}, impact {}, weight {}: an action is 0 or 1, an impact and a "
                "weight are finite, a weight is not negative",
                i, data.approved[i], data.impact[i], weight);
        }
        rows += weight_of(data, i) > 0;
    }
    const auto infinite =
        std::find_if(data.x.begin(), data.x.end(), [](double v) { return std::isinf(v); });
    if (infinite != data.x.end()) {
        const auto at = static_cast<size_t>(infinite - data.x.begin());
        return make_error(Reason::kBadRegressionData,
                          "row {}, feature {} is infinite: give a number, or NaN where none "
                          "is known",
                          at / data.features, at % data.features);
    }
    if (rows < 2) {
        return make_error(Reason::kTooFewRows,
                          "{} rows have an impact and a weight: a regression needs 2", rows);
    }
    return base::ok();
}

}  // namespace

struct ImpactRegression::Model {
    size_t features = 0;
    bool own_slopes = true;
    VectorXd feature_mean;      // replaces missing values
    VectorXd mean, inverse_sd;  // over the design's columns; 0 for a constant column
    VectorXd slopes;            // for the standardised columns
    double intercept = 0;       // mean impact
    Interval range;             // predictions are clamped to it

    Index columns() const { return 1 + signed_of(features) * (own_slopes ? 2 : 1); }

    /// Writes one row of the design, without the intercept: A, X, A X.
    void design(std::span<const double> x, bool approved, Eigen::Ref<VectorXd> out) const {
        const Index d = signed_of(features);
        out[0] = approved;
        for (Index j = 0; j < d; ++j) {
            const double value = x[static_cast<size_t>(j)];
            out[1 + j] = std::isfinite(value) ? value : feature_mean[j];
        }
        if (!own_slopes) return;
        if (approved) {
            out.tail(d) = out.segment(1, d);
        } else {
            out.tail(d).setZero();
        }
    }

    void standardised(std::span<const double> x, bool approved, Eigen::Ref<VectorXd> out) const {
        design(x, approved, out);
        out = (out - mean).cwiseProduct(inverse_sd);
    }

    double predict(std::span<const double> x, bool approved, VectorXd& scratch) const {
        standardised(x, approved, scratch);
        return std::clamp(intercept + slopes.dot(scratch), range.lo, range.hi);
    }
};

namespace {

template <class Visit>
void for_each_row(const RegressionData& data, const Visit& visit) {
    for (size_t i = 0; i < data.impact.size(); ++i) {
        const double weight = weight_of(data, i);
        if (weight > 0) visit(i, data.x.subspan(i * data.features, data.features), weight);
    }
}

/// Returns the features' means over the rows where they are not missing.
VectorXd feature_means(const RegressionData& data) {
    VectorXd sum = VectorXd::Zero(signed_of(data.features)), weights = sum;
    for_each_row(data, [&](size_t, std::span<const double> x, double weight) {
        for (Index j = 0; j < sum.size(); ++j) {
            const double value = x[static_cast<size_t>(j)];
            if (!std::isfinite(value)) continue;
            sum[j] += weight * value;
            weights[j] += weight;
        }
    });
    return (weights.array() > 0).select(sum.array() / weights.array().max(1e-300), 0.0);
}

/// Sets mean, inverse_sd and intercept. Returns false if the features' squares overflow.
template <class Model>
bool standardise(const RegressionData& data, Model& model) {
    const Index columns = model.columns();
    VectorXd row(columns), sum = VectorXd::Zero(columns), squares = sum;
    double total = 0, impact = 0;
    for_each_row(data, [&](size_t i, std::span<const double> x, double weight) {
        model.design(x, data.approved[i] != 0, row);
        sum += weight * row;
        impact += weight * data.impact[i];
        total += weight;
    });
    model.mean = sum / total;
    model.intercept = impact / total;
    for_each_row(data, [&](size_t i, std::span<const double> x, double weight) {
        model.design(x, data.approved[i] != 0, row);
        squares += weight * (row - model.mean).cwiseAbs2();
    });
    // a column counts as constant if its variation is no more than rounding
    const VectorXd sd = (squares / total).cwiseSqrt();
    const VectorXd least = 1e-12 * (model.mean.cwiseAbs().array() + 1e-280).matrix();
    model.inverse_sd = (sd.array() > least.array()).select(1 / sd.array().max(1e-300), 0.0);
    return sd.allFinite();
}

template <class Model>
void solve(const RegressionData& data, double ridge, Model& model) {
    const Index columns = model.columns();
    MatrixXd gram = MatrixXd::Zero(columns, columns), block(columns, kBlockRows);
    VectorXd moment = VectorXd::Zero(columns), row(columns);
    double total = 0;
    Index filled = 0;
    const auto flush = [&] {
        gram.selfadjointView<Eigen::Lower>().rankUpdate(block.leftCols(filled));
        filled = 0;
    };
    for_each_row(data, [&](size_t i, std::span<const double> x, double weight) {
        model.standardised(x, data.approved[i] != 0, row);
        block.col(filled++) = std::sqrt(weight) * row;
        moment += weight * (data.impact[i] - model.intercept) * row;
        total += weight;
        if (filled == kBlockRows) flush();
    });
    flush();
    gram /= total;
    gram.diagonal().array() += ridge;
    model.slopes = gram.selfadjointView<Eigen::Lower>().ldlt().solve(moment / total);
}

}  // namespace

ImpactRegression::ImpactRegression(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

base::Result<ImpactRegression> ImpactRegression::fit(const RegressionData& data,
                                                     Interval impact_range,
                                                     const RegressionOptions& options) {
    RAMPART_RETURN_IF_ERROR(check_shapes(data, impact_range, options));
    RAMPART_RETURN_IF_ERROR(check_values(data));
    auto model = std::make_shared<Model>();
    model->features = data.features;
    model->own_slopes = options.own_slopes;
    model->feature_mean = feature_means(data);
    const bool finite = standardise(data, *model);
    if (finite) solve(data, options.ridge, *model);
    if (!finite || !model->slopes.allFinite() || !std::isfinite(model->intercept)) {
        return make_error(Reason::kBadRegressionData,
                          "the features or impacts are so large that their products "
                          "overflow: scale them");
    }
    model->range = impact_range;
    Interval fitted{impact_range.hi, impact_range.lo};
    VectorXd scratch(model->columns());
    for_each_row(data, [&](size_t i, std::span<const double> x, double) {
        const double q = model->predict(x, data.approved[i] != 0, scratch);
        fitted = {std::min(fitted.lo, q), std::max(fitted.hi, q)};
    });
    model->range = fitted;
    return ImpactRegression(std::move(model));
}

ControlVariates ImpactRegression::predict(std::span<const double> x) const {
    RAMPART_CHECK(x.size() == model_->features, "{} features, fitted with {}", x.size(),
                  model_->features);
    VectorXd scratch(model_->columns());
    const double approve = model_->predict(x, true, scratch);
    return {approve, model_->predict(x, false, scratch)};
}

Interval ImpactRegression::fitted_range() const { return model_->range; }

base::Result<std::vector<ControlVariates>> cross_fitted_control_variates(
    const RegressionData& data, std::span<const uint32_t> unit, size_t folds, Interval impact_range,
    const RegressionOptions& options) {
    const size_t n = data.impact.size();
    if (folds < 2 || folds > 100) {
        return make_error(base::Reason::kBadFolds, "{} folds: must be 2 to 100", folds);
    }
    if (unit.size() != n) {
        return make_error(Reason::kBadShape, "{} units for {} records", unit.size(), n);
    }
    RAMPART_RETURN_IF_ERROR(check_shapes(data, impact_range, options));
    std::vector<ControlVariates> control_variates(n);
    std::vector<double> weight(n);
    for (size_t fold = 0; fold < folds; ++fold) {
        const auto in_fold = [&](size_t i) { return base::mix64(unit[i]) % folds == fold; };
        for (size_t i = 0; i < n; ++i) {
            weight[i] = in_fold(i) ? 0 : (data.weight.empty() ? 1 : data.weight[i]);
        }
        RegressionData others = data;
        others.weight = weight;
        RAMPART_TRY(const auto model, ImpactRegression::fit(others, impact_range, options));
        for (size_t i = 0; i < n; ++i) {
            if (!in_fold(i)) continue;
            control_variates[i] = model.predict(data.x.subspan(i * data.features, data.features));
        }
    }
    return control_variates;
}

}  // namespace rampart::ope
