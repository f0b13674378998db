#pragma once

#include <cstddef>
#include <span>

#include "rampart/stats/confidence_bound.hpp"
#include "rampart/stats/metrics.hpp"

namespace rampart::stats {

/// Bounds that may be looked at after every value, for values with ONE conditional mean. (Where it
/// may change from value to value, use the constant bets of betting.hpp at the end of the sample.)
///
/// As everywhere in this room a bound that cannot be given is the end that certifies nothing: a
/// lower bound of -infinity, an upper one of +infinity. Deterministic; a sequence is used by one
/// thread at a time.

struct HedgedBettingOptions {
    double truncation = 0.75;  // in (0, 1): the share of its wealth that a bet can cost
    bool any_time = false;     // bets for a sample of unknown size; false: for just these n values
    bool running = true;       // the best of all moments, not the last: only where the mean is one
};

/// Confidence interval of level 1 - alpha by hedged betting with predictable plug-in bets
/// (Waudby-Smith, Ramdas 2024, section 4.4): the means m for which neither
///     prod(1 + bet_i (x_i - m))  nor  prod(1 - bet_i (x_i - m))
/// reaches 2 / alpha, on values scaled to [0, 1]; bet_i from the variance of the values before i.
/// Each is monotone in m, so that bisection finds its end; rounded outwards. Depends on the order
/// of the values, and their mean has to be one: see above.
Interval hedged_betting_interval(std::span<const double> values, Range range, double alpha,
                                 const HedgedBettingOptions& options = {});

/// One side of the above as a test: ln prod(1 + bet_i (x_i - m)) against "the mean is at most
/// theta", m being theta scaled like the values; the bets are those of a test at level delta, in
/// (0, 1). It rejects at ln(1 / delta). The largest of all moments or, without options.running, the
/// last; rounded down. -infinity when it cannot be computed, and for theta outside (range.lo,
/// range.hi].
double hedged_log_wealth(std::span<const double> values, Range range, double theta, double delta,
                         const HedgedBettingOptions& options = {});

/// Asymptotic confidence sequence (Waudby-Smith, Arbour, Sinha, Kennedy, Ramdas 2024): margin
///     s sqrt(2 (n r + 1) / (n^2 r) ln(1 + sqrt(n r + 1) / (2 delta))),
/// r tuned to be narrowest after `tuned_for` values. No range is needed, and nothing is promised
/// for small n: weak like Student's t where harm is rare and severe. For showing, not for
/// certifying.
class AsymptoticSequence {
  public:
    /// delta of each side, in (0, 1/2); tuned_for >= 1. Anything else: bounds that say nothing.
    AsymptoticSequence(double delta, size_t tuned_for);

    void add(double x);  // NaN or infinity: from then on the bounds say nothing
    size_t count() const { return n_; }
    double mean() const { return mean_; }
    /// P(any lower bound of the sequence ever exceeds the mean) <= delta, asymptotically.
    double lower() const;
    double upper() const;

  private:
    double margin() const;
    double delta_, r_;
    size_t n_ = 0;
    double mean_ = 0, squares_ = 0;  // Welford's sums
};

}  // namespace rampart::stats
