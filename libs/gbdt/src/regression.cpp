#include "rampart/gbdt/regression.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/gbdt/reasons.hpp"
#include "targets.hpp"

namespace rampart::gbdt {
namespace {

constexpr double kLargestTarget = 1e6;
constexpr float kSmallestHessian = 1e-16f;
constexpr double kFurthest = 30;  // exp() of it is larger than every allowed target

struct Weighted {
    double value, weight;
};

/// Returns the smallest value with a share of `alpha` of the weight at or below it.
double weighted_quantile(std::vector<Weighted>& values, double alpha) {
    std::sort(values.begin(), values.end(),
              [](const Weighted& a, const Weighted& b) { return a.value < b.value; });
    double all = 0, so_far = 0;
    for (const auto& v : values) all += v.weight;
    for (const auto& v : values) {
        so_far += v.weight;
        if (so_far >= alpha * all) return v.value;
    }
    return values.empty() ? 0 : values.back().value;
}

double quantile_of(const std::vector<double>& targets, const std::vector<float>& weights,
                   double alpha) {
    std::vector<Weighted> values;
    values.reserve(targets.size());
    for (size_t row = 0; row < targets.size(); ++row)
        values.push_back({targets[row], weight_at(weights, row)});
    return weighted_quantile(values, alpha);
}

double log_mean(const std::vector<double>& targets, const std::vector<float>& weights) {
    return std::log(std::max(weighted_mean(targets, weights), 1e-9));
}

void check_sizes(size_t targets, size_t scores, size_t first, std::span<const float> g,
                 std::span<const float> h) {
    RAMPART_CHECK(scores == targets && first + g.size() <= targets && h.size() == g.size());
}

}  // namespace

base::Result<QuantileLoss> QuantileLoss::create(std::vector<double> targets,
                                                std::vector<float> weights, double alpha) {
    RAMPART_RETURN_IF_ERROR(check_targets(targets, weights, -kLargestTarget, kLargestTarget));
    if (!(alpha > 0 && alpha < 1))
        return base::make_error(base::Reason::kBadAlpha, "alpha is {}; allowed is between 0 and 1",
                                alpha);
    return QuantileLoss(std::move(targets), std::move(weights), alpha);
}

QuantileLoss::QuantileLoss(std::vector<double> targets, std::vector<float> weights, double alpha)
    : targets_(std::move(targets)), weights_(std::move(weights)), alpha_(alpha) {}

double QuantileLoss::initial_score() const { return quantile_of(targets_, weights_, alpha_); }

void QuantileLoss::gradients_of_rows(std::span<const double> scores, size_t first,
                                     std::span<float> g, std::span<float> h) const {
    check_sizes(targets_.size(), scores.size(), first, g, h);
    for (size_t i = 0; i < g.size(); ++i) {
        const double w = weight_at(weights_, first + i);
        const double above = scores[first + i] >= targets_[first + i] ? 1 : 0;
        g[i] = static_cast<float>(w * (above - alpha_));
        h[i] = static_cast<float>(w);
    }
}

double QuantileLoss::leaf_value(std::span<const double> scores,
                                std::span<const uint32_t> rows) const {
    std::vector<Weighted> residuals;
    residuals.reserve(rows.size());
    for (const uint32_t row : rows)
        residuals.push_back({targets_[row] - scores[row], weight_at(weights_, row)});
    return weighted_quantile(residuals, alpha_);
}

base::Result<AbsoluteError> AbsoluteError::create(std::vector<double> targets,
                                                  std::vector<float> weights) {
    RAMPART_TRY(auto median, QuantileLoss::create(std::move(targets), std::move(weights), 0.5));
    return AbsoluteError(std::move(median));
}

base::Result<HuberLoss> HuberLoss::create(std::vector<double> targets, std::vector<float> weights,
                                          double delta) {
    RAMPART_RETURN_IF_ERROR(check_targets(targets, weights, -kLargestTarget, kLargestTarget));
    if (!(delta > 0 && std::isfinite(delta)))
        return base::make_error(Reason::kBadDelta,
                                "delta is {}; allowed is a finite number above 0", delta);
    return HuberLoss(std::move(targets), std::move(weights), delta);
}

HuberLoss::HuberLoss(std::vector<double> targets, std::vector<float> weights, double delta)
    : targets_(std::move(targets)), weights_(std::move(weights)), delta_(delta) {}

double HuberLoss::initial_score() const { return quantile_of(targets_, weights_, 0.5); }

void HuberLoss::gradients_of_rows(std::span<const double> scores, size_t first, std::span<float> g,
                                  std::span<float> h) const {
    check_sizes(targets_.size(), scores.size(), first, g, h);
    for (size_t i = 0; i < g.size(); ++i) {
        const double w = weight_at(weights_, first + i);
        const double r = scores[first + i] - targets_[first + i];
        g[i] = static_cast<float>(w * std::clamp(r, -delta_, delta_));
        h[i] = static_cast<float>(w);
    }
}

base::Result<PoissonLoss> PoissonLoss::create(std::vector<double> targets,
                                              std::vector<float> weights) {
    RAMPART_RETURN_IF_ERROR(check_targets(targets, weights, 0, kLargestTarget));
    return PoissonLoss(std::move(targets), std::move(weights));
}

PoissonLoss::PoissonLoss(std::vector<double> targets, std::vector<float> weights)
    : targets_(std::move(targets)), weights_(std::move(weights)) {}

double PoissonLoss::initial_score() const { return log_mean(targets_, weights_); }

void PoissonLoss::gradients_of_rows(std::span<const double> scores, size_t first,
                                    std::span<float> g, std::span<float> h) const {
    check_sizes(targets_.size(), scores.size(), first, g, h);
    for (size_t i = 0; i < g.size(); ++i) {
        const double w = weight_at(weights_, first + i);
        const double mean = std::exp(std::clamp(scores[first + i], -kFurthest, kFurthest));
        g[i] = static_cast<float>(w * (mean - targets_[first + i]));
        h[i] = std::max(static_cast<float>(w * mean * std::exp(kDamping)), kSmallestHessian);
    }
}

base::Result<TweedieLoss> TweedieLoss::create(std::vector<double> targets,
                                              std::vector<float> weights, double power) {
    RAMPART_RETURN_IF_ERROR(check_targets(targets, weights, 0, kLargestTarget));
    if (!(power >= 1.01 && power <= 1.99))
        return base::make_error(Reason::kBadVariancePower,
                                "the variance power is {}; allowed is 1.01 to 1.99", power);
    return TweedieLoss(std::move(targets), std::move(weights), power);
}

TweedieLoss::TweedieLoss(std::vector<double> targets, std::vector<float> weights, double power)
    : targets_(std::move(targets)), weights_(std::move(weights)), power_(power) {}

double TweedieLoss::initial_score() const { return log_mean(targets_, weights_); }

void TweedieLoss::gradients_of_rows(std::span<const double> scores, size_t first,
                                    std::span<float> g, std::span<float> h) const {
    check_sizes(targets_.size(), scores.size(), first, g, h);
    const double low = 1 - power_, high = 2 - power_;
    for (size_t i = 0; i < g.size(); ++i) {
        const double w = weight_at(weights_, first + i);
        const double f = std::clamp(scores[first + i], -kFurthest, kFurthest);
        const double of_target = targets_[first + i] * std::exp(low * f);
        const double of_mean = std::exp(high * f);
        g[i] = static_cast<float>(w * (of_mean - of_target));
        h[i] =
            std::max(static_cast<float>(w * (high * of_mean - low * of_target)), kSmallestHessian);
    }
}

}  // namespace rampart::gbdt
