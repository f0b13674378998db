#pragma once

#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/gbdt/objective.hpp"

/// Losses of real targets t with weights w, f the raw score. Each takes targets [n], finite, and
/// weights [n], finite and > 0, or none for all 1. All fail with no_rows, bad_size, bad_target,
/// bad_weight, out_of_range. SquaredError has a header of its own.
namespace rampart::gbdt {

/// Pinball loss (Koenker, Bassett 1978): sum of w·(α·max(t - f, 0) + (1 - α)·max(f - t, 0)). g =
/// w·((f >= t) - α), h = w; a leaf's value is the weighted α-quantile of t - f over its rows, so
/// that a share α of them lies below. Starts at the weighted α-quantile of the targets.
class QuantileLoss : public Objective {
  public:
    /// Requires alpha in (0, 1); |t| <= 1e6.
    static base::Result<QuantileLoss> create(std::vector<double> targets,
                                             std::vector<float> weights, double alpha);
    std::string_view name() const override { return "quantile"; }
    double initial_score() const override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;
    bool sets_leaves() const override { return true; }
    double leaf_value(std::span<const double> scores,
                      std::span<const uint32_t> rows) const override;

  protected:
    QuantileLoss(std::vector<double> targets, std::vector<float> weights, double alpha);

  private:
    std::vector<double> targets_;
    std::vector<float> weights_;
    double alpha_;
};

/// Half the absolute error: the pinball loss at 1/2; leaf values are weighted medians.
class AbsoluteError : public QuantileLoss {
  public:
    static base::Result<AbsoluteError> create(std::vector<double> targets,
                                              std::vector<float> weights);
    std::string_view name() const override { return "absolute_error"; }

  private:
    explicit AbsoluteError(QuantileLoss base) : QuantileLoss(std::move(base)) {}
};

/// Huber loss (1964): r²/2 for |r| <= δ, otherwise δ·(|r| - δ/2), r = f - t. g = w·clamp(r, -δ, δ),
/// h = w. Starts at the weighted median.
class HuberLoss : public Objective {
  public:
    /// Requires delta finite and > 0; |t| <= 1e6.
    static base::Result<HuberLoss> create(std::vector<double> targets, std::vector<float> weights,
                                          double delta);
    std::string_view name() const override { return "huber"; }
    double initial_score() const override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;

  private:
    HuberLoss(std::vector<double> targets, std::vector<float> weights, double delta);
    std::vector<double> targets_;
    std::vector<float> weights_;
    double delta_;
};

/// Poisson loss of counts t >= 0 with mean exp(f): sum of w·(exp(f) - t·f). g = w·(exp(f) - t), h =
/// w·exp(f)·exp(kDamping): the factor limits a leaf's step for large counts, so that exp(f) does
/// not diverge. Starts at the logarithm of the weighted mean, which is at least 1e-9.
class PoissonLoss : public Objective {
  public:
    static constexpr double kDamping = 0.7;

    /// Requires 0 <= t <= 1e6.
    static base::Result<PoissonLoss> create(std::vector<double> targets,
                                            std::vector<float> weights);
    std::string_view name() const override { return "poisson"; }
    double initial_score() const override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;

  private:
    PoissonLoss(std::vector<double> targets, std::vector<float> weights);
    std::vector<double> targets_;
    std::vector<float> weights_;
};

/// Tweedie loss of amounts t >= 0, many of them 0, with mean exp(f) and a variance that grows as
/// the mean to the power p (Jorgensen 1987; 1 < p < 2: a sum of Poisson many gamma amounts): sum of
/// w·(t·exp((1 - p)·f) / (p - 1) + exp((2 - p)·f) / (2 - p)). g and h are its derivatives. Starts
/// at the logarithm of the weighted mean, which is at least 1e-9.
///
/// An exposure e (a part of a year, a share of a loan) needs no offset log e in the score: the
/// likelihood of t is that of the rate t / e with weight e^(2 - p), and with weight e of
/// PoissonLoss, the case p = 1. exp(f) is then the mean for an exposure of 1.
class TweedieLoss : public Objective {
  public:
    /// Requires 0 <= t <= 1e6; power in [1.01, 1.99].
    static base::Result<TweedieLoss> create(std::vector<double> targets, std::vector<float> weights,
                                            double power);
    std::string_view name() const override { return "tweedie"; }
    double initial_score() const override;
    void gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                           std::span<float> h) const override;

  private:
    TweedieLoss(std::vector<double> targets, std::vector<float> weights, double power);
    std::vector<double> targets_;
    std::vector<float> weights_;
    double power_;
};

}  // namespace rampart::gbdt
