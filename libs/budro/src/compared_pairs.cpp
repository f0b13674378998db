#include "compared_pairs.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "rampart/budro/reasons.hpp"

namespace rampart::budro {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr int kMaxSteps = 2000;

struct Loss {
    const MatrixXd& v;
    const std::vector<bool>& comparable;
    double l2;

    VectorXd distances(const MatrixXd& s) const {
        return (v * s).cwiseProduct(v).rowwise().sum().cwiseMax(0.0);
    }
    /// -log(2 / (1 + e^d)), or -log tanh(d/2) = -log of one less that.
    double value(const MatrixXd& s) const {
        const VectorXd d = distances(s);
        double sum = 0;
        for (Index i = 0; i < d.size(); ++i) {
            const double shrunk = std::exp(-d[i]);
            sum += comparable[static_cast<size_t>(i)]
                       ? d[i] + std::log1p(shrunk) - std::log(2.0)
                       : std::log1p(shrunk) - std::log(-std::expm1(-d[i]));
        }
        return sum / static_cast<double>(d.size()) + l2 / 2 * s.squaredNorm();
    }
    MatrixXd gradient(const MatrixXd& s) const {
        const VectorXd d = distances(s);
        VectorXd slope(d.size());
        for (Index i = 0; i < d.size(); ++i) {
            const double shrunk = std::exp(-d[i]);
            slope[i] = comparable[static_cast<size_t>(i)]
                           ? 1 / (1 + shrunk)
                           : -2 * shrunk / std::max(1e-300, -std::expm1(-2 * d[i]));
        }
        slope /= static_cast<double>(d.size());
        return v.transpose() * slope.asDiagonal() * v + l2 * s;
    }
};

MatrixXd positive_part(const MatrixXd& s) {
    const Eigen::SelfAdjointEigenSolver<MatrixXd> solver((s + s.transpose()) / 2);
    return solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).asDiagonal() *
           solver.eigenvectors().transpose();
}

}  // namespace

base::Result<MatrixXd> explore(const MatrixXd& difference, const std::vector<bool>& comparable,
                               double l2) {
    const Loss loss{difference, comparable, l2};
    const Index d = difference.cols();
    const double usual = difference.squaredNorm() / static_cast<double>(difference.rows());
    MatrixXd s = MatrixXd::Identity(d, d) / std::max(1e-12, usual);
    MatrixXd ahead = s;
    double value = loss.value(s), step = 1, momentum = 1;
    for (int i = 0; i < kMaxSteps; ++i) {
        // extrapolation may leave the cone or the domain; then go on from where we are
        double from = loss.value(ahead);
        if (!std::isfinite(from)) {
            ahead = s;
            from = value;
        }
        const MatrixXd gradient = loss.gradient(ahead);
        MatrixXd next;
        double reached = 0;
        for (step *= 2;; step /= 2) {
            next = positive_part(ahead - step * gradient);
            reached = loss.value(next);
            const MatrixXd move = next - ahead;
            if (reached <=
                from + gradient.cwiseProduct(move).sum() + move.squaredNorm() / (2 * step) + 1e-15)
                break;
            if (step < 1e-18)
                return base::make_error(Reason::kNotConverged,
                                        "the metric of the pairs did not settle: raise "
                                        "l2_of_pairs, which is {}",
                                        l2);
        }
        if (reached > value) {  // start the momentum anew
            momentum = 1;
            if (ahead == s) break;
            ahead = s;
            continue;
        }
        const bool settled =
            value - reached <= 1e-13 * std::max(1.0, std::abs(value)) && momentum == 1;
        const double grown = (1 + std::sqrt(1 + 4 * momentum * momentum)) / 2;
        ahead = next + (momentum - 1) / grown * (next - s);
        if (value - reached <= 1e-13 * std::max(1.0, std::abs(value))) {
            momentum = 1;
            ahead = next;
        } else {
            momentum = grown;
        }
        s = next;
        value = reached;
        if (settled) break;
    }
    return s;
}

}  // namespace rampart::budro
