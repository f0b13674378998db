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
