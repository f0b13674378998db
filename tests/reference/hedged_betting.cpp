#include "reference/hedged_betting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace rampart::reference {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Returns bets on values in [0, 1], each from the values before it only: of the fixed-sample or of
/// the any-time kind, with one pseudo-observation of mean 1/2 and variance 1/4.
std::vector<double> plug_in_bets(std::span<const double> x, double delta, bool any_time) {
    std::vector<double> bets;
    bets.reserve(x.size());
    double sum = 0.5, squares = 0.25;
    const double needed = -2 * std::log(delta);
    const auto n = static_cast<double>(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
        const double t = static_cast<double>(i) + 1;
        const double variance = squares / t;
        bets.push_back(std::sqrt(needed / (variance * (any_time ? t * std::log1p(t) : n))));
        sum += x[i];
        const double mean = sum / (t + 1);
        squares += (x[i] - mean) * (x[i] - mean);
    }
    return bets;
}

/// Returns the largest of ln prod(1 + bet_i (x_i - m)) over the prefixes that count, less its
/// rounding errors; bets are truncated at truncation / m, so that it decreases in m. m in (0, 1].
double log_wealth(std::span<const double> x, std::span<const double> bets, double m,
                  const HedgedBettingOptions& options) {
    stats::Sum sum;
    double best = -kInfinity, rounding = 0;
    for (size_t i = 0; i < x.size(); ++i) {
        const double gain = std::min(bets[i], options.truncation / m) * (x[i] - m);
        const double log_factor = std::log1p(gain);
        sum.add(log_factor);
        rounding += std::abs(log_factor) + std::abs(gain) / (1 + gain);
        if (options.running || i + 1 == x.size()) {
            best = std::max(best, sum.value() - 8 * kEpsilon * rounding);
        }
    }
    return best;
}

/// Returns the largest mean found that is rejected from above: the lower end, in [0, 1].
double lower_end(std::span<const double> x, std::span<const double> bets, double needed,
                 const HedgedBettingOptions& options) {
    double safe = 0, unsafe = 1;
    for (int i = 0; i < 60; ++i) {
        const double middle = safe + (unsafe - safe) / 2;
        (log_wealth(x, bets, middle, options) >= needed ? safe : unsafe) = middle;
    }
    return safe;
}

bool usable(std::span<const double> values, stats::Range range, double confidence,
            const HedgedBettingOptions& options) {
    const bool good = !values.empty() && std::isfinite(range.lo) && std::isfinite(range.hi) &&
                      range.lo < range.hi && std::isfinite(range.hi - range.lo) && confidence > 0 &&
                      confidence < 1 && options.truncation > 0 && options.truncation < 1;
    // the negation catches NaN
    return good && std::none_of(values.begin(), values.end(),
                                [&](double x) { return !(x >= range.lo && x <= range.hi); });
}

std::vector<double> scaled(std::span<const double> values, stats::Range range) {
    std::vector<double> x;
    x.reserve(values.size());
    for (const double value : values) {
        x.push_back(std::clamp((value - range.lo) / (range.hi - range.lo), 0.0, 1.0));
    }
    return x;
}

}  // namespace

stats::Interval hedged_betting_interval(std::span<const double> values, stats::Range range,
                                        double alpha, const HedgedBettingOptions& options) {
    if (!usable(values, range, alpha, options)) return {-kInfinity, kInfinity};
    const double width = range.hi - range.lo;
    const std::vector<double> x = scaled(values, range);
    std::vector<double> mirrored;
    mirrored.reserve(x.size());
    for (const double value : x) mirrored.push_back(1 - value);
    const auto bets = plug_in_bets(x, alpha / 2, options.any_time);
    const double needed = std::log(2 / alpha);
    const double outwards = 8 * kEpsilon * (std::abs(range.lo) + std::abs(range.hi));
    const double lo = range.lo + width * lower_end(x, bets, needed, options) - outwards;
    const double hi = range.hi - width * lower_end(mirrored, bets, needed, options) + outwards;
    return {std::max(lo, range.lo), std::min(hi, range.hi)};
}

double hedged_log_wealth(std::span<const double> values, stats::Range range, double theta,
                         double delta, const HedgedBettingOptions& options) {
    const bool good =
        usable(values, range, delta, options) && theta > range.lo && theta <= range.hi;
    if (!good) return -kInfinity;
    const std::vector<double> x = scaled(values, range);
    // rounded up: the wealth decreases in the mean under test
    const double m = (theta - range.lo) / (range.hi - range.lo) * (1 + 4 * kEpsilon);
    return log_wealth(x, plug_in_bets(x, delta, options.any_time), m, options);
}

}  // namespace rampart::reference
