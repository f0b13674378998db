#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "linear_design.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/fair_regression/oracles.hpp"
#include "rampart/fair_regression/reasons.hpp"
#include "rampart/model/ensemble.hpp"

namespace rampart::fair_regression {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using model::LinearModel;
using reductions::OracleQuestion;
using reductions::OracleTask;

constexpr double kRounded = 1e-3;  // half width over which a kink is smoothed

/// loss, slope and curvature of one row at a score.
struct RowLoss {
    double value, slope, curvature;
};

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// The pinball loss of residual f - t, its kink a parabola.
RowLoss pinball(double r, double alpha) {
    const double above = 1 - alpha;
    if (r >= kRounded * above) return {above * r - kRounded * above * above / 2, above, 0};
    if (r <= -kRounded * alpha) return {-alpha * r - kRounded * alpha * alpha / 2, -alpha, 0};
    return {r * r / (2 * kRounded), r / kRounded, 1 / kRounded};
}

RowLoss huber(double r, double delta) {
    if (std::abs(r) <= delta) return {r * r / 2, r, 1};
    return {delta * (std::abs(r) - delta / 2), std::copysign(delta, r), 0};
}

/// A question, and what its cells' losses are at the nodes: 0 at the first.
struct Asked {
    const OracleQuestion& question;
    std::vector<double> at_nodes;

    explicit Asked(const OracleQuestion& q) : question(q) {
        if (q.task != OracleTask::kCells) return;
        const auto& cells = *q.cells;
        at_nodes.resize(cells.slopes.size());
        for (size_t i = 0; i < at_nodes.size(); ++i)
            if (i % cells.nodes != 0)
                at_nodes[i] =
                    at_nodes[i - 1] + (cells.slopes[i - 1] + cells.slopes[i]) / 2 * cells.step;
    }
};

RowLoss of_cell(const Asked& asked, size_t row, double score) {
    const auto& cells = *asked.question.cells;
    const size_t first = cells.cell_of_row[row] * cells.nodes;
    const double* const at = cells.slopes.data() + first;
    const auto slope = cells.slope(row, score);
    const double place = (score - cells.first) / cells.step;
    if (place <= 0) return {at[0] * (score - cells.first), slope.value, 0};
    const size_t left = std::min(static_cast<size_t>(place), cells.nodes - 2);
    const double from = cells.first + static_cast<double>(left) * cells.step;
    const double within = std::min(score - from, cells.step), past = score - from - within;
    const double curvature = past > 0 ? 0 : (at[left + 1] - at[left]) / cells.step;
    return {asked.at_nodes[first + left] + (at[left] + slope.value) / 2 * within +
                at[cells.nodes - 1] * past,
            slope.value, std::max(0.0, curvature)};
}

RowLoss row_loss(const Asked& asked, size_t row, double f) {
    const auto& q = asked.question;
    if (q.task == OracleTask::kCells) return of_cell(asked, row, f);
    const double t = q.targets[row], r = f - t;
    switch (q.task) {
        case OracleTask::kLeastSquares:
            return {r * r / 2, r, 1};
        case OracleTask::kCrossEntropy:
        case OracleTask::kClassification: {
            const double p = model::sigmoid(f);
            return {softplus(f) - t * f, p - t, p * (1 - p)};
        }
        case OracleTask::kAbsolute:
            return pinball(r, 0.5);
        case OracleTask::kQuantile:
            return pinball(r, q.parameter);
        case OracleTask::kHuber:
            return huber(r, q.parameter);
        case OracleTask::kPoisson: {
            const double mean = std::exp(std::min(f, 30.0));
            return {mean - t * f, mean - t, mean};
        }
        case OracleTask::kCells:
            break;
    }
    return {0, 0, 0};
}

}  // namespace

struct LinearOracle::Design : LinearDesign {
    const dataset::Dataset* validation = nullptr;

    enum class What { kValue, kGradient, kHessian };
    /// Mean loss with the penalty; on request its gradient, and its Hessian's lower half.
    struct Point {
        double value = 0;
        VectorXd gradient;
        MatrixXd hessian;
    };
    Point at(const Asked& asked, double ridge, const VectorXd& beta, What what) const {
        const VectorXd predicted = scores(beta);
        VectorXd slopes(predicted.size()), curvatures(predicted.size());
        double total = 0;
        Point point;
        for (Index i = 0; i < predicted.size(); ++i) {
            const double w = asked.question.weight_of(static_cast<size_t>(i));
            const auto row = row_loss(asked, static_cast<size_t>(i), predicted[i]);
            point.value += w * row.value;
            slopes[i] = w * row.slope;
            curvatures[i] = w * row.curvature;
            total += w;
        }
        const Index d = signed_of(columns.size());
        point.value = point.value / total + ridge / 2 * beta.head(d).squaredNorm();
        if (what == What::kValue) return point;
        point.gradient = moments(slopes) / total;
        point.gradient.head(d) += ridge * beta.head(d);
        if (what == What::kGradient) return point;
        point.hessian = gram(curvatures) / total;
        point.hessian.diagonal().head(d).array() += ridge;
        point.hessian(d, d) += 1e-12;
        return point;
    }

    /// Inverse of the mean of x x', which is the Hessian of least squares; the same for all fits.
    const MatrixXd& metric() {
        if (inverse_metric.size() > 0) return inverse_metric;
        const auto n = signed_of(data->rows());
        MatrixXd all = gram(VectorXd::Constant(n, 1 / static_cast<double>(n)));
        all.diagonal().array() += 1e-6;
        inverse_metric = all.selfadjointView<Eigen::Lower>().ldlt().solve(
            MatrixXd::Identity(all.rows(), all.rows()));
        return inverse_metric;
    }
    MatrixXd inverse_metric;

    /// A weighted mean to begin with keeps the first Newton step near.
    VectorXd start(const OracleQuestion& q) const {
        VectorXd beta = VectorXd::Zero(signed_of(columns.size() + 1));
        double sum = 0, total = 0;
        for (size_t i = 0; i < q.targets.size(); ++i) {
            sum += q.weight_of(i) * q.targets[i];
            total += q.weight_of(i);
        }
        double mean = total > 0 ? sum / total : 0.5;
        if (q.task == OracleTask::kPoisson) mean = std::log(std::max(mean, 1e-9));
        if (q.task == OracleTask::kCrossEntropy || q.task == OracleTask::kClassification) {
            const double p = std::clamp(mean, 1e-6, 1 - 1e-6);
            mean = std::log(p / (1 - p));
        }
        beta[beta.size() - 1] = mean;
        return beta;
    }
};

base::Result<LinearOracle> LinearOracle::create(const dataset::Dataset& data,
                                                const LinearParams& params,
                                                const dataset::Dataset* validation) {
    if (!(params.ridge >= 1e-9 && params.ridge <= 1e6) || params.iterations < 1 ||
        params.iterations > 1000)
        return base::make_error(Reason::kBadLinearParameter,
                                "ridge is {}, iterations {}; allowed are 1e-9 to 1e6 and 1 to "
                                "1000",
                                params.ridge, params.iterations);
    if (validation != nullptr && !(validation->schema == data.schema))
        return base::make_error(dataset::Reason::kOtherSchema,
                                "the validation set has another feature schema than the "
                                "training set");
    auto design = std::make_unique<Design>();
    RAMPART_RETURN_IF_ERROR(design->describe(data));
    design->validation = validation;
    return LinearOracle(std::move(design), params);
}

LinearOracle::LinearOracle(std::unique_ptr<Design> design, LinearParams params)
    : design_(std::move(design)), params_(params) {}
LinearOracle::~LinearOracle() = default;
LinearOracle::LinearOracle(LinearOracle&&) noexcept = default;

namespace {

/// Newton's method from `beta` on, for convex losses.
template <class Design>
VectorXd newton(const Design& design, const OracleQuestion& question, const LinearParams& params,
                VectorXd beta) {
    const Asked asked(question);
    for (int i = 0; i < params.iterations; ++i) {
        const auto point = design.at(asked, params.ridge, beta, Design::What::kHessian);
        // where nothing is curved, the step is the gradient's; 1e-6 keeps it finite
        MatrixXd hessian = point.hessian;
        if (question.task != OracleTask::kLeastSquares) hessian.diagonal().array() += 1e-6;
        const VectorXd step = hessian.selfadjointView<Eigen::Lower>().ldlt().solve(point.gradient);
        const double slope = step.dot(point.gradient);
        if (!(slope > 1e-14)) break;
        double size = 1;
        const auto value_at = [&](double t) {
            return design.at(asked, params.ridge, beta - t * step, Design::What::kValue).value;
        };
        while (size > 1e-8 && !(value_at(size) <= point.value - 1e-4 * size * slope)) size /= 2;
        if (size <= 1e-8) break;
        beta -= size * step;
        if (question.task == OracleTask::kLeastSquares) break;
    }
    return beta;
}

/// BFGS from `beta` on, for losses that need not be convex. `inverse`: of the metric.
template <class Design>
VectorXd descend(const Design& design, const OracleQuestion& question, double ridge, VectorXd beta,
                 MatrixXd inverse) {
    const Asked asked(question);
    auto point = design.at(asked, ridge, beta, Design::What::kGradient);
    for (int i = 0; i < question.more; ++i) {
        const VectorXd step = inverse * point.gradient;
        const double slope = step.dot(point.gradient);
        if (!(slope > 1e-14)) break;
        double size = 1;
        const auto value_at = [&](double t) {
            return design.at(asked, ridge, beta - t * step, Design::What::kValue).value;
        };
        while (size > 1e-6 && !(value_at(size) <= point.value - 1e-4 * size * slope)) size /= 2;
        if (size <= 1e-6) break;
        const VectorXd moved = -size * step;
        beta += moved;
        auto next = design.at(asked, ridge, beta, Design::What::kGradient);
        const VectorXd turned = next.gradient - point.gradient;
        point = std::move(next);
        const double curved = moved.dot(turned);
        if (!(curved > 1e-12 * moved.norm() * turned.norm())) continue;  // not convex here
        const VectorXd seen = inverse * turned;
        inverse += (1 + turned.dot(seen) / curved) / curved * moved * moved.transpose() -
                   (seen * moved.transpose() + moved * seen.transpose()) / curved;
    }
    return beta;
}

}  // namespace

base::Result<reductions::OracleAnswer> LinearOracle::fit(const OracleQuestion& question) {
    RAMPART_RETURN_IF_ERROR(validate(question, design_->data->rows()));
    const auto* const start =
        question.start == nullptr ? nullptr : std::get_if<LinearModel>(question.start);
    const VectorXd beta = start == nullptr
                              ? newton(*design_, question, params_, design_->start(question))
                              : descend(*design_, question, params_.ridge,
                                        design_->coefficients_of(*start), design_->metric());
    if (!beta.allFinite())
        return base::make_error(Reason::kNotFitted, "a linear model's coefficients are not finite");
    reductions::OracleAnswer answer;
    const VectorXd scores = design_->scores(beta);
    answer.scores.assign(scores.data(), scores.data() + scores.size());
    const auto model = design_->model_of(beta);
    if (design_->validation != nullptr)
        answer.validation_scores = model.predict(*design_->validation);
    answer.model = model;
    return answer;
}

}  // namespace rampart::fair_regression
