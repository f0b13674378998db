#include "rampart/stats/distributions.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace rampart::stats {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Returns ln(Gamma(a + 1/2) / Gamma(a)): Stirling's series where it is exact to the last digit,
/// reached by the recurrence. (The difference of two lgammas would lose ten digits at a = 50,000.)
double log_gamma_half_step(double a) {
    double shift = 0;
    for (; a < 30; a += 1) shift += std::log(a) - std::log(a + 0.5);
    const double r = 1 / a, r2 = r * r;
    const double series =
        r * (-1.0 / 8 + r2 * (1.0 / 192 + r2 * (-1.0 / 640 + r2 * (17.0 / 14336))));
    return shift + 0.5 * std::log(a) + series;
}

/// Evaluates the continued fraction of the incomplete beta function by Lentz's method.
double beta_fraction(double x, double a, double b) {
    constexpr double kTiny = 1e-300;
    const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), f = d;
    for (int m = 1; m < 100'000; ++m) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        f *= d * c;
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        const double step = d * c;
        f *= step;
        if (std::abs(step - 1) < 1e-16) return f;
    }
    return f;
}

/// Returns P(T > t) for t >= 0: I_x(nu/2, 1/2) / 2 at x = nu / (nu + t^2).
double student_t_tail(double t, double nu) {
    const double a = nu / 2, ratio = t * t / nu;
    if (std::isinf(ratio)) return 0;
    const double x = 1 / (1 + ratio), y = ratio / (1 + ratio);
    // x^a y^(1/2) / B(a, 1/2), in logarithms
    const double log_front = -a * std::log1p(ratio) + 0.5 * std::log(y) + log_gamma_half_step(a) -
                             0.5 * std::log(std::numbers::pi);
    const double front = std::exp(log_front);
    if (x < (a + 1) / (a + 2.5)) return 0.5 * front * beta_fraction(x, a, 0.5) / a;
    return 0.5 * (1 - front * beta_fraction(y, 0.5, a) / 0.5);
}

double student_t_density(double t, double nu) {
    const double log_density = log_gamma_half_step(nu / 2) - 0.5 * std::log(nu * std::numbers::pi) -
                               (nu + 1) / 2 * std::log1p(t * t / nu);
    return std::exp(log_density);
}

/// Returns z >= 0 with P(N > z) = tail, by Newton's method on the logarithm of the tail, which is
/// concave.
double normal_tail_quantile(double tail) {
    double z = std::sqrt(-2 * std::log(2 * tail));
    for (int i = 0; i < 60; ++i) {
        const double q = 0.5 * std::erfc(z / std::numbers::sqrt2);
        const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
        const double step = (std::log(q) - std::log(tail)) * q / density;
        z += step;
        if (std::abs(step) <= 1e-15 * (1 + z)) break;
    }
    return z < 0 ? 0 : z;
}

/// Evaluates the Cornish-Fisher expansion; the first omitted term is below 1e-17 for nu >= 1e5.
double student_t_expansion(double z, double nu) {
    const double z2 = z * z;
    const double g1 = z * (z2 + 1) / 4;
    const double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
    const double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
    return z + (g1 + (g2 + g3 / nu) / nu) / nu;
}

/// Returns t > 0 with P(T > t) = tail, by Newton's method on ln tail against ln t, which is close
/// to linear for large t, inside a bracket that bisection shrinks.
double student_t_tail_quantile(double tail, double nu) {
    double lo = -700, hi = 700, u = std::log(normal_tail_quantile(tail) + 1e-300);
    const double target = std::log(tail);
    for (int i = 0; i < 200; ++i) {
        if (!(u > lo && u < hi)) u = (lo + hi) / 2;
        const double t = std::exp(u), value = student_t_tail(t, nu);
        const double gap = std::log(value) - target;
        (gap > 0 ? lo : hi) = u;
        const double step = gap * value / (t * student_t_density(t, nu));
        if (std::abs(step) <= 1e-14) return std::exp(u + step);
        u += step;
    }
    return std::exp(u);
}

}  // namespace

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

double normal_quantile(double p) {
    if (!(p > 0 && p < 1)) return kNan;
    return p < 0.5 ? -normal_tail_quantile(p) : normal_tail_quantile(1 - p);
}

double student_t_quantile(double p, double nu) {
    if (!(p > 0 && p < 1) || !(nu >= 1)) return kNan;
    if (p == 0.5) return 0;
    const double tail = p < 0.5 ? p : 1 - p;
    const double t = nu >= 1e5 ? student_t_expansion(normal_tail_quantile(tail), nu)
                               : student_t_tail_quantile(tail, nu);
    return p < 0.5 ? -t : t;
}

}  // namespace rampart::stats
