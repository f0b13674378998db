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
/// M = W / prod(1 + bet (mu_i - theta)) is a nonnegative martingale that starts at 1, so Ville's
/// inequality gives
///     P(W(theta) >= 1/delta) <= delta   whenever the average of the conditional means mu_i is <=
///     theta,
/// for any n, any distribution above lo, and conditional means that change from value to value.
/// This needs constant bets and the wealth at the END: a running maximum would be valid for some
/// prefix of the sample only. Only the lower end of the range is used. All computation is done
/// in logarithms.
///
/// Pure, deterministic, safe to call from many threads.

inline constexpr size_t kBetCount = 3;

/// What is fixed about the test sample before it is read: its size, and a variance estimated on
/// other data.
struct BettingPlan {
    size_t n = 0;         // >= 2
    double variance = 0;  // > 0
};

struct BettingOptions {
    double cap = 0.95;  // in (0, 1): largest share of the wealth that one value can cost
    std::array<double, kBetCount> multiples{0.4, 1.0, 2.5};
    std::array<double, kBetCount> weights{0.15, 0.70, 0.15};  // >= 0, sum 1
};

/// A mixture of constant bets. `cap` is kept because betting_lower_bound caps the bets again for
/// each theta.
struct Bets {
    std::array<double, kBetCount> bets{};
    std::array<double, kBetCount> weights{};
    double cap = 0;
};

/// Computes bet_k = min(cap / |lo|, multiple_k sqrt(2 ln(1/delta) / (n variance))): near the best
/// constant bet for the smallest gain that can be certified. lo < 0: the smallest possible value.
/// Fails with invalid_argument on n < 2, a variance that is not positive and finite, lo >= 0, or
/// options outside their ranges.
base::Result<Bets> plan_bets(const BettingPlan& plan, double lo, double delta,
                             const BettingOptions& options = {});

/// Returns ln W(theta), rounded down; -infinity if it cannot be computed: no values, NaN, an
/// infinite value, a value below lo, theta <= lo.
double log_wealth(std::span<const double> values, double lo, const Bets& bets, double theta);

/// A wealth that is a mean over starts, and the start with the largest part of it.
struct StartedWealth {
    double log_wealth = 0;
    size_t start = 0;  // number of values before it
};

/// Returns ln of the mean wealth at theta = 0 of bettors who begin with value 0 (weight 1/2), and
/// with value j block for j = 1, 2, … (weights 1 / (2 j (j + 1)), which sum to 1/2); who has not
/// begun has wealth 1. Rounded down; -infinity as log_wealth(), and for block = 0.
/// Where every conditional mean is at most 0, a nonnegative supermartingale from 1, so that it ever
/// reaches 1/delta with probability at most delta; so it does at a given n where from each start
/// to n the average of the conditional means is at most 0. The first bettor's wealth, that of
/// log_wealth(), is half of it at least, so that what is found there comes late by ln 2 at most.
StartedWealth log_wealth_over_starts(std::span<const double> values, double lo, const Bets& bets,
                                     size_t block);

/// Returns a lower confidence bound: the largest theta found with W(theta) >= 1/delta, with bets
/// capped at cap / (theta - lo). Bisection to a width of 1e-13 (mean - lo), safe end; W decreases
/// in theta, so every smaller theta is rejected as well. At least lo, the bound without data;
/// -infinity if log_wealth cannot be computed.
double betting_lower_bound(std::span<const double> values, double lo, const Bets& bets,
                           double delta);

}  // namespace rampart::stats
