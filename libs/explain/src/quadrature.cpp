#include "quadrature.hpp"

#include <cmath>
#include <numbers>

namespace rampart::explain {
namespace {

struct Legendre {
    double value, slope;
};

/// Computes P_n and its derivative at x in (-1, 1), by Bonnet's recursion.
Legendre legendre(size_t n, double x) {
    double before = 1, value = x;
    for (size_t k = 2; k <= n; ++k) {
        const auto m = static_cast<double>(k);
        const double next = ((2 * m - 1) * x * value - (m - 1) * before) / m;
        before = value;
        value = next;
    }
    return {value, static_cast<double>(n) * (x * value - before) / (x * x - 1)};
}

}  // namespace

Quadrature gauss_legendre(size_t points) {
    Quadrature out{std::vector<double>(points), std::vector<double>(points)};
    const auto n = static_cast<double>(points);
    for (size_t i = 0; i < (points + 1) / 2; ++i) {
        // Tricomi's initial guess; Newton's method converges quadratically from there
        double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
        if (2 * i + 1 == points) x = 0;  // the middle point
        for (int step = 0; step < 8; ++step) {
            const auto [value, slope] = legendre(points, x);
            x -= value / slope;
        }
        const double slope = legendre(points, x).slope;
        const double weight = 1 / ((1 - x * x) * slope * slope);
        out.at[i] = (1 - x) / 2;
        out.at[points - 1 - i] = (1 + x) / 2;
        out.weight[i] = out.weight[points - 1 - i] = weight;
    }
    return out;
}

}  // namespace rampart::explain
