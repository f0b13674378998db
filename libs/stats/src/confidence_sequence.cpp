#include "rampart/stats/confidence_sequence.hpp"

#include <cmath>
#include <limits>

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

AsymptoticSequence::AsymptoticSequence(double delta, size_t tuned_for)
    : delta_(delta), r_(std::numeric_limits<double>::quiet_NaN()) {
    if (!(delta > 0 && delta < 0.5) || tuned_for == 0) return;
    const double l = -2 * std::log(2 * delta);
    r_ = (l + std::log1p(l)) / static_cast<double>(tuned_for);
}

void AsymptoticSequence::add(double x) {
    ++n_;
    const double before = x - mean_;
    mean_ += before / static_cast<double>(n_);
    squares_ += before * (x - mean_);
}

double AsymptoticSequence::margin() const {
    if (n_ < 2 || !std::isfinite(mean_) || !(squares_ > 0)) return kInfinity;
    const auto n = static_cast<double>(n_);
    const double s = std::sqrt(squares_ / (n - 1)), grown = n * r_ + 1;
    const double margin =
        s * std::sqrt(2 * grown / (n * n * r_) * std::log1p(std::sqrt(grown) / (2 * delta_)));
    return std::isfinite(margin) ? margin : kInfinity;
}

double AsymptoticSequence::lower() const {
    const double m = margin();
    return m == kInfinity ? -kInfinity : mean_ - m;
}

double AsymptoticSequence::upper() const {
    const double m = margin();
    return m == kInfinity ? kInfinity : mean_ + m;
}

}  // namespace rampart::stats
