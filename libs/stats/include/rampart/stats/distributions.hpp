#pragma once

namespace rampart::stats {

/// The normal distribution function, and quantiles of the normal and of Student's t distribution.
///
/// Pure and safe to call from many threads. Accuracy: 1e-12 relative for quantiles of probabilities
/// in [1e-12, 1 - 1e-12] (checked against published values to 1e-10). Arguments outside the stated
/// ranges give NaN, never an exception: comparisons with NaN are false and certify nothing.

/// Returns P(N(0, 1) <= z).
double normal_cdf(double z);

/// Returns z with normal_cdf(z) = p; p in (0, 1).
double normal_quantile(double p);

/// Returns t with P(T <= t) = p for `nu` degrees of freedom; p in (0, 1), nu >= 1.
double student_t_quantile(double p, double nu);

}  // namespace rampart::stats
