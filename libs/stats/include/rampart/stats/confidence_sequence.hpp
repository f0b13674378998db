#pragma once

#include <cstddef>
#include <span>

#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/interval.hpp"

namespace rampart::stats {

/// Bounds that stay valid when they are inspected after every value, for values with ONE
/// conditional mean. (If the mean may change, use the constant bets of betting.hpp at the end.)
///
/// A bound that cannot be computed is infinite and certifies nothing: a lower bound is -infinity,
/// an upper one +infinity. Deterministic. Functions are pure; an object of a sequence is not
/// thread safe.

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
Interval hedged_betting_interval(std::span<const double> values, Range range, double alpha,
                                 const HedgedBettingOptions& options = {});

/// Returns one side of the above as a test: ln prod(1 + bet_i (x_i - m)) against "the mean is at
/// most theta", with m = theta scaled like the values and the bets of a test at level delta in (0,
/// 1). Rejects at ln(1 / delta). Takes the maximum over all prefixes or, without options.running,
/// the last; rounded down. -infinity if it cannot be computed or theta is outside (range.lo,
/// range.hi].
double hedged_log_wealth(std::span<const double> values, Range range, double theta, double delta,
                         const HedgedBettingOptions& options = {});

/// Asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2024): margin
///     s sqrt(2 (n r + 1) / (n^2 r) ln(1 + sqrt(n r + 1) / (2 delta))),
/// r chosen so that it is narrowest after `tuned_for` values. Needs no range and guarantees nothing
/// for small n: weak like Student's t if harm is rare and severe. For display, not for
/// certification.
class AsymptoticSequence {
  public:
    /// Requires 0 < delta < 1/2 (each side) and tuned_for >= 1; otherwise the bounds are infinite.
    AsymptoticSequence(double delta, size_t tuned_for);

    void add(double x);  // after NaN or infinity the bounds are infinite
    size_t count() const { return n_; }
    double mean() const { return mean_; }
    /// Lower bound: P(any of the sequence ever exceeds the mean) <= delta, asymptotically.
    double lower() const;
    double upper() const;

  private:
    double margin() const;
    double delta_, r_;
    size_t n_ = 0;
    double mean_ = 0, squares_ = 0;  // Welford's sums
};

}  // namespace rampart::stats
