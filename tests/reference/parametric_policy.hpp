#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::reference {

/// Policies pi_theta, one for each vector theta of `dimension()` numbers, on a fixed set of rows.
/// Immutable; safe to use from many threads.
class ParametricPolicy {
  public:
    virtual ~ParametricPolicy() = default;
    virtual size_t dimension() const = 0;
    virtual size_t rows() const = 0;
    /// pi_theta(1 | x_i) in [0, 1] (or NaN) of every row into out[rows()].
    virtual void approve(std::span<const double> theta, std::span<double> out) const = 0;
    /// The same policies on the rows given, in that order.
    virtual std::unique_ptr<ParametricPolicy> on(std::span<const uint32_t> rows) const = 0;
};

/// logit pi_theta(1|x) = base(x) + theta_0 + sum_j theta_{j+1} x_j.
class LogisticPolicy final : public ParametricPolicy {
  public:
    /// columns: [d] of n finite numbers each, 1 <= d <= kMaxDimension - 1. base: n logits; empty:
    /// 0, plain logistic regression's policies. With the reference's logits theta = 0 is the
    /// reference. invalid_argument "bad_policy" otherwise.
    static base::Result<LogisticPolicy> create(const std::vector<std::vector<double>>& columns,
                                               std::vector<double> base = {});

    size_t dimension() const override { return features_ + 1; }
    size_t rows() const override { return rows_; }
    void approve(std::span<const double> theta, std::span<double> out) const override;
    std::unique_ptr<ParametricPolicy> on(std::span<const uint32_t> rows) const override;

  private:
    LogisticPolicy() = default;
    size_t features_ = 0, rows_ = 0;
    std::vector<double> values_;  // column by column
    std::vector<double> base_;
};

/// Log-odds, with p kept 1e-12 away from 0 and 1.
std::vector<double> logits(std::span<const double> p);

/// theta of the LogisticPolicy without base that maximises the penalised likelihood
/// sum log pi(label) - ridge/2 |theta without theta_0|^2, by Newton's method (at most 50 steps).
/// Deterministic. invalid_argument "bad_policy": shapes, ridge < 0; failed_precondition
/// "no_convergence": one label only, or separable without ridge.
base::Result<std::vector<double>> fit_logistic(const std::vector<std::vector<double>>& columns,
                                               std::span<const uint8_t> label, double ridge);

/// pi moved into |pi - reference| <= kappa min(reference, 1 - reference). NaN stays NaN.
void into_trust_region(std::span<const double> reference, double kappa, std::span<double> pi);

}  // namespace rampart::reference
