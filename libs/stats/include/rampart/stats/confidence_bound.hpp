#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace rampart::stats {

/// Lower confidence bounds for a mean from n independent values: P(bound > mean) <= delta.
///
/// Every bound is rounded downwards by more than the rounding errors of its own computation. A
/// bound that cannot be computed (fewer than two values, NaN or infinity anywhere, delta outside
/// (0, 1), an empty range) is -infinity, which certifies nothing, whatever it is compared with.
/// Pure, deterministic, safe to call from many threads.

/// Sample statistics that the bounds need. `variance` is the sample variance, divisor n - 1.
struct Moments {
    size_t n = 0;
    double mean = 0;
    double variance = 0;
};

/// Computes compensated sums in the given order, in two passes. n = 0 gives NaN for both figures, n
/// = 1 a NaN variance.
Moments moments(std::span<const double> values);

/// Interval that contains every value with certainty; known before the data.
struct Range {
    double lo = 0;
    double hi = 0;
};

/// Returns mean - s/sqrt(n) t_{1-delta, n-1}. Exact for normal values, approximate for large n
/// otherwise, and wrong if harm is rare and severe. -infinity if all values are equal.
double t_lower_bound(const Moments& sample, double delta);

/// Returns mean - (hi - lo) sqrt(ln(1/delta) / 2n) (Hoeffding 1963). Valid for every distribution
/// on the range.
double hoeffding_lower_bound(const Moments& sample, Range range, double delta);

/// Returns mean - sqrt(2 V ln(2/delta)/n) - 7 (hi - lo) ln(2/delta) / (3(n-1)) (Maurer, Pontil
/// 2009, theorem 4).
double maurer_pontil_lower_bound(const Moments& sample, Range range, double delta);

/// Sum with Neumaier's compensation: the same result on every machine for the same order.
class Sum {
  public:
    void add(double x) {
        const double t = sum_ + x;
        compensation_ += std::abs(sum_) >= std::abs(x) ? (sum_ - t) + x : (x - t) + sum_;
        sum_ = t;
    }
    double value() const { return sum_ + compensation_; }

  private:
    double sum_ = 0, compensation_ = 0;
};

}  // namespace rampart::stats
