#include "rampart/stats/betting_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "log_wealth.hpp"

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

/// Multiplies the wealth by 1 + x and bounds the error: two roundings of the argument, which the
/// logarithm's slope 1 / (1 + x) magnifies, and a few of the logarithm.
void BettingSample::Product::add(double x) {
    const double log_factor = std::log1p(x);
    logs.add(log_factor);
    rounding += std::abs(log_factor) + std::abs(x) / (1 + x);
}

double BettingSample::Product::value() const {
    return logs.value() - 4 * std::numeric_limits<double>::epsilon() * rounding;
}

BettingSample::BettingSample(Range range, const Bets& bets)
    : range_(range), bets_(bets), mass_(kCells + 1, 0) {
    usable_ = range.lo < 0 && range.hi >= 0 && std::isfinite(range.lo) && std::isfinite(range.hi) &&
              usable_bets(bets);
}

void BettingSample::add(double value) {
    usable_ = usable_ && value >= range_.lo && value <= range_.hi;  // false for NaN
    if (!usable_) return;
    if (n_++ == 0) pivot_ = smallest_ = largest_ = value;
    smallest_ = std::min(smallest_, value);
    largest_ = std::max(largest_, value);
    const double from_pivot = value - pivot_;
    sum_.add(from_pivot);
    squares_.add(from_pivot * from_pivot);
    for (size_t k = 0; k < kBetCount; ++k) {
        products_[k].add(std::min(bets_.bets[k], bets_.cap / -range_.lo) * value);
    }
    const double place = (value - range_.lo) / (range_.hi - range_.lo) * kCells;
    const auto cell = std::min(static_cast<size_t>(place), kCells - 1);
    const double share = place - static_cast<double>(cell);
    mass_[cell] += 1 - share;
    mass_[cell + 1] += share;
}

Moments BettingSample::moments() const {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (!usable_ || n_ == 0) return {n_, nan, nan};
    const auto n = static_cast<double>(n_);
    const double shift = sum_.value() / n;
    const double spread = std::max(0.0, squares_.value() - sum_.value() * shift);
    return {n_, pivot_ + shift, n_ < 2 ? nan : varied() ? spread / (n - 1) : 0};
}

double BettingSample::log_wealth() const {
    if (!usable_ || n_ == 0) return -kInfinity;
    std::array<double, kBetCount> logs{};
    for (size_t k = 0; k < kBetCount; ++k) logs[k] = products_[k].value();
    return log_mixture(bets_, logs);
}

double BettingSample::wealth_of_points(double theta) const {
    const double width = (range_.hi - range_.lo) / kCells;
    std::array<double, kBetCount> logs{};
    for (size_t k = 0; k < kBetCount; ++k) {
        const double bet = std::min(bets_.bets[k], bets_.cap / (theta - range_.lo));
        double sum = 0, size = 0;
        for (size_t i = 0; i <= kCells; ++i) {
            if (mass_[i] == 0) continue;
            const double point = range_.lo + static_cast<double>(i) * width;
            const double log_factor = mass_[i] * std::log1p(bet * (point - theta));
            sum += log_factor;
            size += std::abs(log_factor);
        }
        logs[k] = sum - 1e-12 * size;
    }
    return log_mixture(bets_, logs);
}

double BettingSample::lower_bound(double delta) const {
    if (!usable_ || n_ == 0 || !(delta > 0 && delta < 1)) return -kInfinity;
    const double needed = -std::log(delta), mean = moments().mean;
    double safe = range_.lo, unsafe = mean;  // at theta = mean no bet gains
    const double width = 1e-13 * (mean - range_.lo);
    for (int i = 0; i < 200 && unsafe - safe > width; ++i) {
        const double middle = safe + (unsafe - safe) / 2;
        if (!(middle > safe && middle < unsafe)) break;
        (wealth_of_points(middle) >= needed ? safe : unsafe) = middle;
    }
    return log_wealth() >= needed ? std::max(safe, 0.0) : safe;
}

}  // namespace rampart::stats
