#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "rampart/base/result.hpp"

namespace rampart::stats {

/// Lower confidence bound for a mean by betting, with bets that are fixed before the values are
/// seen.
///
/// Wealth against "the mean is at most theta", for values Z_i >= lo:
///     W(theta) = sum_k weight_k * prod_i (1 + bet_k (Z_i - theta)),   0 < bet_k <= cap / (theta -
///     lo).
/// With M = W / prod(1 + bet (mu_i - theta)) a nonnegative martingale from 1, Ville's inequality
/// gives
///     P(W(theta) >= 1/delta) <= delta   whenever the average of the conditional means mu_i is <=
///     theta,
/// for any n, any distribution above lo, and conditional means that change from value to value.
/// This needs constant bets, and the wealth at the END: a running maximum would speak of some
/// beginning of the sample only. Only the lower end of the values is used. Everything is computed
/// in logarithms.
///
/// Pure, deterministic, safe to call from many threads.

inline constexpr size_t kBetCount = 3;

/// What is declared about the test sample before it is read: its size, and a variance from other
/// data.
struct BettingPlan {
    size_t n = 0;         // >= 2
    double variance = 0;  // > 0
};

struct BettingOptions {
    double cap = 0.95;  // in (0, 1): the most that one value can cost
    std::array<double, kBetCount> multiples{0.4, 1.0, 2.5};
    std::array<double, kBetCount> weights{0.15, 0.70, 0.15};  // >= 0, sum 1
};

/// A mixture of constant bets. `cap` is kept because a bound re-caps the bets for the theta it
/// tries.
struct Bets {
    std::array<double, kBetCount> bets{};
    std::array<double, kBetCount> weights{};
    double cap = 0;
};

/// bet_k = min(cap / |lo|, multiple_k sqrt(2 ln(1/delta) / (n variance))): near the best constant
/// bet for a gain that is just certifiable. lo: the smallest possible value, < 0. Errors
/// (invalid_argument): a plan of fewer than two values, a variance that is not positive and finite,
/// lo not negative, options outside their ranges.
base::Result<Bets> plan_bets(const BettingPlan& plan, double lo, double delta,
                             const BettingOptions& options = {});

/// ln W(theta), rounded down. -infinity when it cannot be computed: no values, NaN, a value below
/// lo, theta <= lo. An infinite value is refused in the same way.
double log_wealth(std::span<const double> values, double lo, const Bets& bets, double theta);

/// The largest theta found with W(theta) >= 1/delta, re-capping bets at cap / (theta - lo): a lower
/// confidence bound, the safe end of a bisection down to a width of 1e-13 (mean - lo). W falls in
/// theta, so everything below is rejected as well. At least lo, which is all that is known without
/// data; -infinity when log_wealth cannot be computed.
double betting_lower_bound(std::span<const double> values, double lo, const Bets& bets,
                           double delta);

}  // namespace rampart::stats
