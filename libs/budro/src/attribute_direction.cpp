#include "attribute_direction.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>

#include "rampart/budro/reasons.hpp"

namespace rampart::budro {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMaxNewtonSteps = 100;

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// The columns that may be used, and a constant.
VectorXd mask_of(const RegressionColumns& table) {
    VectorXd mask(eigen_size(table.used.size()));
    for (size_t c = 0; c < table.used.size(); ++c) mask[eigen_size(c)] = table.used[c] ? 1 : 0;
    return mask;
}

struct LossPoint {
    double value = 0;
    VectorXd gradient;
    MatrixXd hessian;
};

struct Logistic {
    const RegressionColumns& table;
    const std::vector<int8_t>& target;
    double l2;
    VectorXd mask;
    double total = 0;

    /// beta: [columns + 1], the intercept last.
    LossPoint at(const VectorXd& beta, bool whole) const {
        const Index d = mask.size();
        LossPoint point{0, VectorXd::Zero(d + 1),
                        MatrixXd::Zero(whole ? d + 1 : 0, whole ? d + 1 : 0)};
        for_blocks(*table.data, *table.columns, [&](const auto& block, size_t from) {
            const MatrixXd x = block * mask.asDiagonal();
            const VectorXd score = (x * beta.head(d)).array() + beta[d];
            VectorXd slope = VectorXd::Zero(x.rows()), curvature = slope;
            for (Index i = 0; i < x.rows(); ++i) {
                const size_t row = from + static_cast<size_t>(i);
                if (target[row] < 0) continue;
                const double w = static_cast<double>(table.data->weight_of(row)) / total;
                const double p = 1 / (1 + std::exp(-score[i]));
                point.value += w * (softplus(score[i]) - target[row] * score[i]);
                slope[i] = w * (p - target[row]);
                curvature[i] = w * p * (1 - p);
            }
            point.gradient.head(d) += x.transpose() * slope;
            point.gradient[d] += slope.sum();
            if (!whole) return;
            const MatrixXd scaled = curvature.array().sqrt().matrix().asDiagonal() * x;
            point.hessian.topLeftCorner(d, d).selfadjointView<Eigen::Lower>().rankUpdate(
                scaled.transpose());
            point.hessian.bottomLeftCorner(1, d) += (x.transpose() * curvature).transpose();
            point.hessian(d, d) += curvature.sum();
        });
        point.value += l2 / 2 * beta.head(d).squaredNorm();
        point.gradient.head(d) += l2 * beta.head(d);
        if (whole) point.hessian.diagonal().head(d).array() += l2;
        return point;
    }
};

struct RidgeMoments {
    VectorXd mean;
    double target_mean = 0, total = 0;
    MatrixXd gram;  // Gram matrix of what is left of the means, by weight
    VectorXd cross;
};

RidgeMoments moments_of(const RegressionColumns& table, std::span<const double> target,
                        const VectorXd& mask) {
    RidgeMoments m;
    m.mean = VectorXd::Zero(mask.size());
    const auto weight = [&](size_t row) {
        return std::isnan(target[row]) ? 0 : static_cast<double>(table.data->weight_of(row));
    };
    for_blocks(*table.data, *table.columns, [&](const auto& block, size_t from) {
        for (Index i = 0; i < block.rows(); ++i) {
            const double w = weight(from + static_cast<size_t>(i));
            if (w == 0) continue;
            m.mean += w * block.row(i).transpose();
            m.target_mean += w * target[from + static_cast<size_t>(i)];
            m.total += w;
        }
    });
    m.mean /= m.total;
    m.target_mean /= m.total;
    m.gram = MatrixXd::Zero(mask.size(), mask.size());
    m.cross = VectorXd::Zero(mask.size());
    for_blocks(*table.data, *table.columns, [&](const auto& block, size_t from) {
        MatrixXd x = (block.rowwise() - m.mean.transpose()) * mask.asDiagonal();
        for (Index i = 0; i < x.rows(); ++i) {
            const size_t row = from + static_cast<size_t>(i);
            const double w = weight(row);
            if (w > 0) m.cross += w * (target[row] - m.target_mean) * x.row(i).transpose();
            x.row(i) *= std::sqrt(w);
        }
        m.gram.selfadjointView<Eigen::Lower>().rankUpdate(x.transpose());
    });
    return m;
}

/// Mean squared error of each row under the fit without it.
double left_out_error(const RegressionColumns& table, std::span<const double> target,
                      const VectorXd& mask, const RidgeMoments& m, const MatrixXd& vectors,
                      const VectorXd& shrunk, const VectorXd& beta) {
    double error = 0;
    for_blocks(*table.data, *table.columns, [&](const auto& block, size_t from) {
        const MatrixXd x = (block.rowwise() - m.mean.transpose()) * mask.asDiagonal();
        const MatrixXd rotated = x * vectors;
        const VectorXd guess = x * beta;
        for (Index i = 0; i < x.rows(); ++i) {
            const size_t row = from + static_cast<size_t>(i);
            if (std::isnan(target[row])) continue;
            const double w = static_cast<double>(table.data->weight_of(row));
            const double leverage =
                w * (1 / m.total + rotated.row(i).array().square().matrix().dot(shrunk));
            const double residual = target[row] - m.target_mean - guess[i];
            error += w * std::pow(residual / std::max(1e-12, 1 - leverage), 2);
        }
    });
    return error / m.total;
}

}  // namespace

base::Result<VectorXd> logistic_direction(const RegressionColumns& table,
                                          const std::vector<int8_t>& target, double l2) {
    Logistic loss{table, target, l2, mask_of(table)};
    double hits = 0;
    for (size_t i = 0; i < target.size(); ++i) {
        if (target[i] < 0) continue;
        loss.total += static_cast<double>(table.data->weight_of(i));
        hits += target[i] * static_cast<double>(table.data->weight_of(i));
    }
    const Index d = loss.mask.size();
    VectorXd beta = VectorXd::Zero(d + 1);
    beta[d] = std::log(hits / (loss.total - hits));
    for (int step = 0; step < kMaxNewtonSteps; ++step) {
        auto point = loss.at(beta, true);
        if (point.gradient.lpNorm<Eigen::Infinity>() < 1e-12) return VectorXd(beta.head(d));
        const VectorXd move =
            point.hessian.selfadjointView<Eigen::Lower>().ldlt().solve(point.gradient);
        const double fall = move.dot(point.gradient);
        if (fall < 1e-18) return VectorXd(beta.head(d));  // rounding is all that is left
        double size = 1;
        while (size > 1e-6 &&
               !(loss.at(beta - size * move, false).value <= point.value - 1e-4 * size * fall))
            size /= 2;
        if (size <= 1e-6) {  // as good as numbers of 53 bits can say
            if (fall < 1e-12) return VectorXd(beta.head(d));
            break;
        }
        beta -= size * move;
    }
    return base::make_error(Reason::kNotConverged,
                            "a protected attribute's regression did not settle in {} steps: "
                            "raise l2, which is {}",
                            kMaxNewtonSteps, l2);
}

base::Result<VectorXd> ridge_direction(const RegressionColumns& table,
                                       std::span<const double> target,
                                       std::span<const double> candidates) {
    const VectorXd mask = mask_of(table);
    const auto m = moments_of(table, target, mask);
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(m.gram);
    if (solver.info() != Eigen::Success)
        return base::make_error(Reason::kNotConverged,
                                "the columns' covariance has no eigenvectors");
    const VectorXd cross = solver.eigenvectors().transpose() * m.cross;
    VectorXd best;
    double least = std::numeric_limits<double>::infinity();
    for (const double l2 : candidates) {
        const VectorXd shrunk = 1 / (solver.eigenvalues().array().max(0.0) + l2 * m.total);
        const VectorXd beta = solver.eigenvectors() * shrunk.cwiseProduct(cross);
        const double error =
            candidates.size() == 1
                ? 0
                : left_out_error(table, target, mask, m, solver.eigenvectors(), shrunk, beta);
        if (!(error < least)) continue;
        least = error;
        best = beta.cwiseProduct(mask);
    }
    return best;
}

}  // namespace rampart::budro
