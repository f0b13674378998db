#include "rampart/fair_regression/loss.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/reasons.hpp"
#include "rampart/dataset/reasons.hpp"
#include "rampart/fair_regression/reasons.hpp"
#include "rampart/model/ensemble.hpp"

namespace rampart::fair_regression {
namespace {

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

base::Status check_parameter(std::string_view loss, std::string_view parameter, double value,
                             bool good, std::string_view allowed) {
    if (good) return base::ok();
    return base::make_error(Reason::kBadLossParameter, "{} of the {} loss is {}; allowed is {}",
                            parameter, loss, value, allowed);
}

base::Status check_scale(std::string_view loss, double scale) {
    return check_parameter(loss, "the scale", scale, scale >= 0.1 && scale <= 30, "0.1 to 30");
}

constexpr double kTweedieScale = 15;  // means down to 3e-7 of the largest amount
constexpr size_t kLattice = 65;
constexpr double kRounding = 1e-9;

double point(size_t i) { return static_cast<double>(i) / (kLattice - 1); }

/// What is claimed of a user's loss, on the lattice: steps along either axis suffice for the
/// Lipschitz constant, because the bound adds up along them.
base::Status check_claims(const std::string& name, const std::vector<double>& values,
                          double lipschitz, bool convex) {
    const auto at = [&](size_t i, size_t j) { return values[i * kLattice + j]; };
    const double most = lipschitz / (kLattice - 1) + kRounding;
    for (size_t i = 0; i < kLattice; ++i) {
        for (size_t j = 0; j < kLattice; ++j) {
            const bool along_u = j > 0 && !(std::abs(at(i, j) - at(i, j - 1)) <= most);
            const bool along_y = i > 0 && !(std::abs(at(i, j) - at(i - 1, j)) <= most);
            if (along_u || along_y)
                return base::make_error(Reason::kNotLipschitz,
                                        "loss '{}' changes by more than {} times the step "
                                        "just before y = {}, u = {}; declare a larger "
                                        "constant, or scale the loss",
                                        name, lipschitz, point(i), point(j));
            if (convex && j > 1 && at(i, j) + at(i, j - 2) < 2 * at(i, j - 1) - kRounding)
                return base::make_error(Reason::kNotConvex,
                                        "loss '{}' is declared convex and is not at y = {}, "
                                        "u = {}; declare convex = false",
                                        name, point(i), point(j - 1));
        }
    }
    return base::ok();
}

}  // namespace

RegressionLoss RegressionLoss::squared() { return {LossKind::kSquared, "squared", 0}; }

RegressionLoss RegressionLoss::absolute() { return {LossKind::kAbsolute, "absolute", 0}; }

base::Result<RegressionLoss> RegressionLoss::logistic(double scale) {
    RAMPART_RETURN_IF_ERROR(check_scale("logistic", scale));
    return RegressionLoss(LossKind::kLogistic, "logistic", scale);
}

base::Result<RegressionLoss> RegressionLoss::quantile(double alpha) {
    RAMPART_RETURN_IF_ERROR(check_parameter("quantile", "alpha", alpha, alpha > 0 && alpha < 1,
                                            "between 0 and 1, both excluded"));
    return RegressionLoss(LossKind::kQuantile, "quantile", alpha);
}

base::Result<RegressionLoss> RegressionLoss::huber(double delta) {
    RAMPART_RETURN_IF_ERROR(
        check_parameter("huber", "delta", delta, delta > 0 && delta <= 1, "above 0 and at most 1"));
    return RegressionLoss(LossKind::kHuber, "huber", delta);
}

base::Result<RegressionLoss> RegressionLoss::poisson(double scale) {
    RAMPART_RETURN_IF_ERROR(check_scale("poisson", scale));
    return RegressionLoss(LossKind::kPoisson, "poisson", scale);
}

base::Result<RegressionLoss> RegressionLoss::tweedie(double power) {
    RAMPART_RETURN_IF_ERROR(check_parameter("tweedie", "the variance power", power,
                                            power >= 1.01 && power <= 1.99, "1.01 to 1.99"));
    RegressionLoss loss(LossKind::kTweedie, "tweedie", power);
    const double steepest = std::exp((power - 1) * kTweedieScale);  // at the least mean
    loss.lipschitz_ = steepest * std::max(kTweedieScale, 1 / (power - 1));
    return loss;
}

base::Result<RegressionLoss> RegressionLoss::user(std::string name, Function function,
                                                  double lipschitz, bool convex) {
    if (!function) return base::make_error(Reason::kNoLoss, "loss '{}' has no function", name);
    RAMPART_RETURN_IF_ERROR(check_parameter(name, "the Lipschitz constant", lipschitz,
                                            lipschitz > 0 && lipschitz <= 1e6,
                                            "above 0 and at most 1e6"));
    std::vector<double> values;
    for (size_t i = 0; i < kLattice; ++i) {
        for (size_t j = 0; j < kLattice; ++j) {
            values.push_back(function(point(i), point(j)));
            if (!std::isfinite(values.back()))
                return base::make_error(Reason::kBadLossValue,
                                        "loss '{}' is {} at y = {}, u = {}; it has to be "
                                        "finite on the unit square",
                                        name, values.back(), point(i), point(j));
        }
    }
    RAMPART_RETURN_IF_ERROR(check_claims(name, values, lipschitz, convex));
    RegressionLoss loss(LossKind::kUser, std::move(name), 0);
    loss.lipschitz_ = lipschitz;
    loss.convex_ = convex;
    loss.function_ = std::move(function);
    return loss;
}

double RegressionLoss::value(double y, double u) const {
    const double r = u - y, c = parameter_;
    switch (kind_) {
        case LossKind::kSquared:
            return r * r / 2;
        case LossKind::kAbsolute:
            return std::abs(r);
        case LossKind::kQuantile:
            return std::max(-c * r, (1 - c) * r);
        case LossKind::kHuber:
            return std::abs(r) <= c ? r * r / 2 : c * (std::abs(r) - c / 2);
        case LossKind::kLogistic: {
            const double f = c * (2 * u - 1);
            return (softplus(f) - y * f) / (2 * softplus(c));
        }
        case LossKind::kPoisson:
            return (std::exp(c * (u - 1)) + y * c * (1 - u) - std::exp(-c)) / c;
        case LossKind::kTweedie: {
            const double f = kTweedieScale * (u - 1);
            return y * std::exp((1 - c) * f) / (c - 1) + std::exp((2 - c) * f) / (2 - c);
        }
        case LossKind::kUser:
            break;
    }
    return function_(y, u);
}

double RegressionLoss::label_of(double u) const {
    if (kind_ == LossKind::kLogistic) return model::sigmoid(parameter_ * (2 * u - 1));
    if (kind_ == LossKind::kPoisson || kind_ == LossKind::kTweedie)
        return std::exp(scale() * (u - 1));
    return u;
}

double RegressionLoss::scale() const {
    return kind_ == LossKind::kTweedie ? kTweedieScale : parameter_;
}

base::Result<std::vector<double>> unit_labels(std::span<const double> labels, LabelRange range) {
    if (!std::isfinite(range.lo) || !std::isfinite(range.hi) || !(range.lo < range.hi))
        return base::make_error(dataset::Reason::kBadLabelRange,
                                "labels are declared to lie in [{}, {}]; give two finite "
                                "numbers, the smaller first",
                                range.lo, range.hi);
    if (labels.empty()) return base::make_error(base::Reason::kNoRows, "there are no labels");
    std::vector<double> out;
    out.reserve(labels.size());
    for (size_t row = 0; row < labels.size(); ++row) {
        if (!(labels[row] >= range.lo && labels[row] <= range.hi))
            return base::make_error(dataset::Reason::kLabelOutsideRange,
                                    "row {}: label {} lies outside [{}, {}]; declare the range "
                                    "that labels come from",
                                    row, labels[row], range.lo, range.hi);
        out.push_back(std::clamp((labels[row] - range.lo) / (range.hi - range.lo), 0.0, 1.0));
    }
    return out;
}

}  // namespace rampart::fair_regression
