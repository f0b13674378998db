#pragma once

#include <cmath>

namespace rampart::test {

/// Returns P(X >= k) exactly, X binomial with n trials of probability p in (0, 1).
inline double binomial_tail(int n, int k, double p) {
    double sum = 0;
    for (int i = n; i >= k && i >= 0; --i) {  // from the small terms on
        sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) +
                        i * std::log(p) + (n - i) * std::log1p(-p));
    }
    return sum;
}

/// Level at which a test of "the rate is at most delta" is red.
inline constexpr double kRed = 0.001;

/// Returns whether `count` of n is red: so many or more have a probability below 0.001 if the rate
/// is delta.
inline bool red(int count, int n, double delta) { return binomial_tail(n, count, delta) < kRed; }

/// Returns the smallest count of n that is red.
inline int red_from(int n, double delta) {
    int count = static_cast<int>(n * delta);
    while (!red(count, n, delta)) ++count;
    return count;
}

/// Returns the chance that a test of `n` epochs is red where the true rate is `rate`.
inline double chance_of_red(int n, double delta, double rate) {
    return binomial_tail(n, red_from(n, delta), rate);
}

}  // namespace rampart::test
