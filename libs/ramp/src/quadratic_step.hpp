#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rampart::ramp {

/// What a moment may be: lo <= M - c <= hi, with the centre c of its family free, or 0 without one.
struct Window {
    double lo = 0, hi = 0;  // lo <= hi
    int32_t family = -1;    // -1: none

    /// max of s·t over s in [lo, hi]: what the window costs in the dual.
    double support(double t) const { return t > 0 ? t * hi : t * lo; }
    /// Its derivative at t in direction d.
    double slope(double t, double d) const {
        if (t == 0) return support(d);
        return d * (t > 0 ? hi : lo);
    }
};

/// minimise  ½ y'By + l·y + sum of support_j(y_j)   subject to  sum of y over every family = 0
///
/// B: [m * m], symmetric positive definite. start: [m], keeps the families' sums. An active-set
/// method: between the kinks of the supports at y_j = 0 it is a linear system; exact but for
/// rounding. m is some hundreds at most.
std::vector<double> quadratic_step(const std::vector<double>& matrix,
                                   const std::vector<double>& linear,
                                   std::span<const Window> windows, size_t families,
                                   std::vector<double> start);

}  // namespace rampart::ramp
