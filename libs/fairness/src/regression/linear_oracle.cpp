#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "linear_design.hpp"
#include "question.hpp"
#include "rampart/model/ensemble.hpp"

namespace rampart::fairness {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kRounded = 1e-3;  // of a kink, to either side

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

/// The loss of a cell, from the first node on.
RowLoss of_cell(const CellLoss& cells, size_t row, double score) {
    const auto slope = cells.slope(row, score);
    const double* const at = cells.slopes.data() + cells.cell_of_row[row] * cells.nodes;
    const double place = (score - cells.first) / cells.step;
    if (place <= 0) return {at[0] * (score - cells.first), slope.value, 0};
    const size_t left = std::min(static_cast<size_t>(place), cells.nodes - 2);
    double value = 0;
    for (size_t i = 0; i < left; ++i) value += (at[i] + at[i + 1]) / 2 * cells.step;
    const double from = cells.first + static_cast<double>(left) * cells.step;
    const double within = std::min(score - from, cells.step), past = score - from - within;
    const double curvature = past > 0 ? 0 : (at[left + 1] - at[left]) / cells.step;
    return {value + (at[left] + slope.value) / 2 * within + at[cells.nodes - 1] * past, slope.value,
            std::max(0.0, curvature)};
}

RowLoss row_loss(const RegressionQuestion& q, size_t row, double f) {
    if (q.task == RegressionTask::kCells) return of_cell(*q.cells, row, f);
    const double t = q.targets[row], r = f - t;
    switch (q.task) {
        case RegressionTask::kLeastSquares: return {r * r / 2, r, 1};
        case RegressionTask::kCrossEntropy: {
            const double p = model::sigmoid(f);
            return {softplus(f) - t * f, p - t, p * (1 - p)};
        }
        case RegressionTask::kAbsolute: return pinball(r, 0.5);
        case RegressionTask::kQuantile: return pinball(r, q.parameter);
        case RegressionTask::kHuber: return huber(r, q.parameter);
        case RegressionTask::kPoisson: {
            const double mean = std::exp(std::min(f, 30.0));
            return {mean - t * f, mean - t, mean};
        }
        case RegressionTask::kCells: break;
    }
    return {0, 0, 0};
}

}  // namespace

struct LinearRegressionOracle::Design : LinearDesign {
    const dataset::Dataset* validation = nullptr;

    /// Mean loss with the penalty; on request gradient and Hessian.
    struct Point {
        double value = 0;
        VectorXd gradient;
        MatrixXd hessian;
    };
    Point at(const RegressionQuestion& q, double ridge, const VectorXd& beta, bool whole) const {
        const VectorXd scores = x * beta;
        VectorXd slopes(scores.size()), roots(scores.size());
        double total = 0;
        Point point;
        for (Index i = 0; i < scores.size(); ++i) {
            const double w = weight_of(q, static_cast<size_t>(i));
            const auto row = row_loss(q, static_cast<size_t>(i), scores[i]);
            point.value += w * row.value;
            slopes[i] = w * row.slope;
            roots[i] = std::sqrt(w * row.curvature);
            total += w;
        }
        const Index d = signed_of(columns.size());
        point.value = point.value / total + ridge / 2 * beta.head(d).squaredNorm();
        if (!whole) return point;
        point.gradient = x.transpose() * slopes / total;
        point.gradient.head(d) += ridge * beta.head(d);
        point.hessian = MatrixXd::Zero(d + 1, d + 1);
        const MatrixXd scaled = roots.asDiagonal() * x;
        point.hessian.selfadjointView<Eigen::Lower>().rankUpdate(scaled.transpose(), 1 / total);
        point.hessian.diagonal().head(d).array() += ridge;
        point.hessian(d, d) += 1e-12;
        return point;
    }

    /// A weighted mean to begin with keeps the first Newton step near.
    VectorXd start(const RegressionQuestion& q) const {
        VectorXd beta = VectorXd::Zero(signed_of(columns.size() + 1));
        double sum = 0, total = 0;
        for (size_t i = 0; i < q.targets.size(); ++i) {
            sum += weight_of(q, i) * q.targets[i];
            total += weight_of(q, i);
        }
        double mean = total > 0 ? sum / total : 0.5;
        if (q.task == RegressionTask::kPoisson) mean = std::log(std::max(mean, 1e-9));
        if (q.task == RegressionTask::kCrossEntropy) {
            const double p = std::clamp(mean, 1e-6, 1 - 1e-6);
            mean = std::log(p / (1 - p));
        }
        beta[beta.size() - 1] = mean;
        return beta;
    }
};

base::Result<LinearRegressionOracle> LinearRegressionOracle::create(
    const dataset::Dataset& data, const LinearParams& params, const dataset::Dataset* validation) {
    if (!(params.ridge >= 1e-9 && params.ridge <= 1e6) || params.iterations < 1 ||
        params.iterations > 1000)
        return base::out_of_range("bad_linear_parameter",
                                  "ridge is {}, iterations {}; allowed are 1e-9 to 1e6 and 1 to "
                                  "1000",
                                  params.ridge, params.iterations);
    if (validation != nullptr && !(validation->schema == data.schema))
        return base::invalid_argument("other_schema",
                                      "the validation set has another feature schema than the "
                                      "training set");
    auto design = std::make_unique<Design>();
    RAMPART_RETURN_IF_ERROR(design->describe(data));
    design->validation = validation;
    return LinearRegressionOracle(std::move(design), params);
}

LinearRegressionOracle::LinearRegressionOracle(std::unique_ptr<Design> design, LinearParams params)
    : design_(std::move(design)), params_(params) {}
LinearRegressionOracle::~LinearRegressionOracle() = default;
LinearRegressionOracle::LinearRegressionOracle(LinearRegressionOracle&&) noexcept = default;

base::Result<RegressionAnswer> LinearRegressionOracle::fit(const RegressionQuestion& question) {
    RAMPART_RETURN_IF_ERROR(validate(question, design_->data->rows()));
    VectorXd beta = design_->start(question);
    for (int i = 0; i < params_.iterations; ++i) {
        const auto point = design_->at(question, params_.ridge, beta, true);
        // where nothing is curved, the step is the gradient's; 1e-6 keeps it finite
        MatrixXd hessian = point.hessian;
        if (question.task != RegressionTask::kLeastSquares) hessian.diagonal().array() += 1e-6;
        const VectorXd step = hessian.selfadjointView<Eigen::Lower>().ldlt().solve(point.gradient);
        const double slope = step.dot(point.gradient);
        if (!(slope > 1e-14)) break;
        double size = 1;
        const auto value_at = [&](double t) {
            return design_->at(question, params_.ridge, beta - t * step, false).value;
        };
        while (size > 1e-8 && !(value_at(size) <= point.value - 1e-4 * size * slope)) size /= 2;
        if (size <= 1e-8) break;
        beta -= size * step;
        if (question.task == RegressionTask::kLeastSquares) break;
    }
    if (!beta.allFinite())
        return base::internal_error("not_fitted", "a linear model's coefficients are not finite");
    RegressionAnswer answer;
    const VectorXd scores = design_->x * beta;
    answer.scores.assign(scores.data(), scores.data() + scores.size());
    const auto model = design_->model_of(beta);
    if (design_->validation != nullptr)
        answer.validation_scores = model.predict(*design_->validation);
    answer.model = model;
    return answer;
}

}  // namespace rampart::fairness
