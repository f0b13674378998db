#pragma once

#include <span>

#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/interval.hpp"

namespace rampart::reference {

/// Hedged betting, a bound that stays valid when it is inspected after every value, for values with
/// ONE conditional mean. The gate's own bets (stats/betting.hpp) need no such assumption; tests
/// compare them with this one.
///
/// A bound that cannot be computed is infinite and certifies nothing. Pure functions.

struct HedgedBettingOptions {
    double truncation = 0.75;  // in (0, 1): largest share of the wealth that one bet can cost
    bool any_time = false;     // bets for an unknown sample size; false: for these n values
    bool running = true;       // best of all prefixes, not the last: valid only for a constant mean
};

/// Returns the confidence interval of level 1 - alpha by hedged betting with predictable plug-in
/// bets (Waudby-Smith, Ramdas 2024, section 4.4): the means m for which neither
///     prod(1 + bet_i (x_i - m))  nor  prod(1 - bet_i (x_i - m))
/// reaches 2 / alpha, on values scaled to [0, 1]; bet_i uses the variance of the values before i.
/// Both are monotone in m, so bisection finds the ends; rounded outwards. Depends on the order of
/// the values, which need one common mean: see above.
stats::Interval hedged_betting_interval(std::span<const double> values, stats::Range range,
                                        double alpha, const HedgedBettingOptions& options = {});

/// Returns one side of the above as a test: ln prod(1 + bet_i (x_i - m)) against "the mean is at
/// most theta", with m = theta scaled like the values and the bets of a test at level delta in (0,
/// 1). Rejects at ln(1 / delta). Takes the maximum over all prefixes or, without options.running,
/// the last; rounded down. -infinity if it cannot be computed or theta is outside (range.lo,
/// range.hi].
double hedged_log_wealth(std::span<const double> values, stats::Range range, double theta,
                         double delta, const HedgedBettingOptions& options = {});

}  // namespace rampart::reference
