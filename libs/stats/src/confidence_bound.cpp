#include "rampart/stats/confidence_bound.hpp"

#include <cmath>
#include <limits>

#include "rampart/stats/distributions.hpp"

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

bool usable(const Moments& sample, double delta) {
    return sample.n >= 2 && std::isfinite(sample.mean) && std::isfinite(sample.variance) &&
           sample.variance >= 0 && delta > 0 && delta < 1;
}

bool usable(const Moments& sample, Range range, double delta) {
    return usable(sample, delta) && std::isfinite(range.lo) && std::isfinite(range.hi) &&
           range.lo < range.hi && sample.mean >= range.lo && sample.mean <= range.hi;
}

/// Returns mean - width, less more than their rounding errors. (Compensated sums are exact to one
/// rounding of mean |x|, which is at most |mean| + s.)
double below(const Moments& sample, double width) {
    if (!std::isfinite(width)) return -kInfinity;
    const double scale = std::abs(sample.mean) + std::sqrt(sample.variance) + width;
    return sample.mean - width - 16 * kEpsilon * scale;
}

}  // namespace

Moments moments(std::span<const double> values) {
    const auto n = static_cast<double>(values.size());
    Sum sum;
    for (const double x : values) sum.add(x);
    const double mean = sum.value() / n;
    Sum squares;
    for (const double x : values) squares.add((x - mean) * (x - mean));
    return {values.size(), mean, squares.value() / (n - 1)};
}

double t_lower_bound(const Moments& sample, double delta) {
    if (!usable(sample, delta) || sample.variance == 0) return -kInfinity;
    const auto n = static_cast<double>(sample.n);
    return below(sample, std::sqrt(sample.variance / n) * student_t_quantile(1 - delta, n - 1));
}

double hoeffding_lower_bound(const Moments& sample, Range range, double delta) {
    if (!usable(sample, range, delta)) return -kInfinity;
    const auto n = static_cast<double>(sample.n);
    return below(sample, (range.hi - range.lo) * std::sqrt(-std::log(delta) / (2 * n)));
}

double maurer_pontil_lower_bound(const Moments& sample, Range range, double delta) {
    if (!usable(sample, range, delta)) return -kInfinity;
    const auto n = static_cast<double>(sample.n);
    const double log_term = std::log(2 / delta);
    return below(sample, std::sqrt(2 * sample.variance * log_term / n) +
                             7 * (range.hi - range.lo) * log_term / (3 * (n - 1)));
}

}  // namespace rampart::stats
