#include "rampart/stats/betting.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "log_wealth.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/reasons.hpp"

namespace rampart::stats {
namespace {

using base::make_error;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// Returns sum ln(1 + bet (z - theta)), less a bound on its rounding error: two roundings of the
/// argument, which the logarithm's slope 1 / (1 + x) magnifies, and a few of each logarithm.
double log_product(std::span<const double> values, double bet, double theta) {
    Sum sum;
    double rounding = 0;
    for (const double z : values) {
        const double x = bet * (z - theta), log_factor = std::log1p(x);
        sum.add(log_factor);
        rounding += std::abs(log_factor) + std::abs(x) / (1 + x);
    }
    return sum.value() - 4 * kEpsilon * rounding;
}

/// Returns ln sum_k exp(terms_k) without overflow.
double log_sum_exp(std::span<const double> terms) {
    const double top = *std::max_element(terms.begin(), terms.end());
    if (!std::isfinite(top)) return -kInfinity;
    double sum = 0;
    for (const double term : terms) sum += std::exp(term - top);
    return top + std::log(sum);
}

bool usable(std::span<const double> values, double lo, const Bets& bets) {
    if (values.empty() || !std::isfinite(lo) || !usable_bets(bets)) return false;
    // the negation catches NaN
    return std::none_of(values.begin(), values.end(),
                        [lo](double z) { return !(z >= lo && std::isfinite(z)); });
}

double log_wealth_unchecked(std::span<const double> values, double lo, const Bets& bets,
                            double theta) {
    std::array<double, kBetCount> logs{};
    for (size_t k = 0; k < kBetCount; ++k) {
        logs[k] = log_product(values, std::min(bets.bets[k], bets.cap / (theta - lo)), theta);
    }
    return log_mixture(bets, logs);
}

}  // namespace

bool usable_bets(const Bets& bets) {
    if (!(bets.cap > 0 && bets.cap < 1)) return false;
    for (size_t k = 0; k < kBetCount; ++k) {
        if (!(bets.bets[k] > 0 && std::isfinite(bets.bets[k]) && bets.weights[k] >= 0))
            return false;
    }
    return true;
}

double log_mixture(const Bets& bets, const std::array<double, kBetCount>& logs) {
    std::array<double, kBetCount> terms{};
    for (size_t k = 0; k < kBetCount; ++k) {
        terms[k] = bets.weights[k] > 0 ? std::log(bets.weights[k]) + logs[k] : -kInfinity;
        if (std::isnan(terms[k]) || terms[k] == kInfinity) return -kInfinity;
    }
    const double wealth = log_sum_exp(terms);
    return wealth - 8 * kEpsilon * (1 + std::abs(wealth));
}

base::Result<Bets> plan_bets(const BettingPlan& plan, double lo, double delta,
                             const BettingOptions& options) {
    if (plan.n < 2)
        return make_error(Reason::kBadPlan, "n is {}: plan for at least 2 values", plan.n);
    if (!(plan.variance > 0 && std::isfinite(plan.variance))) {
        return make_error(Reason::kBadPlan, "variance is {}: must be positive and finite",
                          plan.variance);
    }
    if (!(lo < 0 && std::isfinite(lo))) {
        return make_error(Reason::kBadPlan,
                          "lo is {}: the smallest possible value must be negative", lo);
    }
    if (!(delta > 0 && delta < 1)) {
        return make_error(Reason::kBadDelta, "delta is {}: must lie in (0, 1)", delta);
    }
    if (!(options.cap > 0 && options.cap < 1)) {
        return make_error(base::Reason::kBadBetCap, "cap is {}: must lie in (0, 1)", options.cap);
    }
    Bets bets{.weights = options.weights, .cap = options.cap};
    double total = 0;
    for (size_t k = 0; k < kBetCount; ++k) {
        if (!(options.multiples[k] > 0 && std::isfinite(options.multiples[k]) &&
              options.weights[k] >= 0)) {
            return make_error(Reason::kBadBets,
                              "bet {}: multiple {} and weight {} must be positive", k,
                              options.multiples[k], options.weights[k]);
        }
        total += options.weights[k];
        const double best =
            std::sqrt(-2 * std::log(delta) / (static_cast<double>(plan.n) * plan.variance));
        bets.bets[k] = std::min(options.cap / -lo, options.multiples[k] * best);
    }
    if (!(std::abs(total - 1) <= 1e-12)) {
        return make_error(Reason::kBadBets, "weights sum to {}: must sum to 1", total);
    }
    return bets;
}

double log_wealth(std::span<const double> values, double lo, const Bets& bets, double theta) {
    if (!usable(values, lo, bets) || !(theta > lo) || !std::isfinite(theta)) return -kInfinity;
    return log_wealth_unchecked(values, lo, bets, theta);
}

StartedWealth log_wealth_over_starts(std::span<const double> values, double lo, const Bets& bets,
                                     size_t block) {
    StartedWealth out{-kInfinity, 0};
    if (!usable(values, lo, bets) || !(lo < 0) || block == 0) return out;
    const size_t starts = (values.size() - 1) / block + 1;
    std::array<double, kBetCount> logs{};
    std::vector<double> terms{-std::log(2 * static_cast<double>(starts))};  // what has not begun
    double highest = -kInfinity, magnitude = 1;
    for (size_t j = starts; j-- > 0;) {
        const auto part = values.subspan(j * block, std::min(block, values.size() - j * block));
        for (size_t k = 0; k < kBetCount; ++k) {
            logs[k] += log_product(part, std::min(bets.bets[k], bets.cap / -lo), 0);
            magnitude = std::max(magnitude, std::abs(logs[k]));
        }
        const auto number = static_cast<double>(j);
        const double weight = j == 0 ? 0.5 : 0.5 / (number * (number + 1));
        terms.push_back(std::log(weight) + log_mixture(bets, logs));
        if (terms.back() < highest) continue;
        highest = terms.back();
        out.start = j * block;
    }
    out.log_wealth =
        log_sum_exp(terms) - 4 * kEpsilon * static_cast<double>(starts + 4) * magnitude;
    return out;
}

double betting_lower_bound(std::span<const double> values, double lo, const Bets& bets,
                           double delta) {
    if (!usable(values, lo, bets) || !(delta > 0 && delta < 1)) return -kInfinity;
    const double needed = -std::log(delta), mean = moments(values).mean;
    double safe = lo, unsafe = mean;  // at theta = mean no bet gains
    const double width = 1e-13 * (mean - lo);
    for (int i = 0; i < 200 && unsafe - safe > width; ++i) {
        const double middle = safe + (unsafe - safe) / 2;
        if (!(middle > safe && middle < unsafe)) break;
        (log_wealth_unchecked(values, lo, bets, middle) >= needed ? safe : unsafe) = middle;
    }
    return safe;
}

}  // namespace rampart::stats
