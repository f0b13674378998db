#include "rampart/constraints/interval.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rampart::constraints {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Rounds towards minus infinity if the exact result lies below the rounded one: `error` is exact
/// minus rounded, or has its sign.
double down(double rounded, double error) {
    return error < 0 ? std::nextafter(rounded, -kInfinity) : rounded;
}
double up(double rounded, double error) {
    return error > 0 ? std::nextafter(rounded, kInfinity) : rounded;
}

/// An interval around the exact result of one operation on two numbers.
Interval around(double rounded, double error) {
    if (!std::isfinite(error)) {  // an overflow, or an infinite operand
        const double largest = std::numeric_limits<double>::max();
        if (rounded == kInfinity) return {largest, kInfinity};
        if (rounded == -kInfinity) return {-kInfinity, -largest};
    }
    return {down(rounded, error), up(rounded, error)};
}

/// Limit below which the error of a product or quotient may be too small to be computed.
constexpr double kTiny = 1e-280;

Interval sum_of(double a, double b) {
    const double s = a + b, b_part = s - a;
    return around(s, (a - (s - b_part)) + (b - b_part));  // Knuth's exact error
}

Interval product_of(double a, double b) {
    if (a == 0 || b == 0) return {0, 0};  // an infinite end stands for ever larger numbers
    const double p = a * b;
    if (std::abs(p) < kTiny) return {down(p, -1), up(p, 1)};
    return around(p, std::fma(a, b, -p));
}

Interval quotient_of(double a, double b) {
    const double q = a / b;
    if (a == 0) return {0, 0};
    if (std::abs(q) < kTiny || std::abs(a) < kTiny) return {down(q, -1), up(q, 1)};
    const double remainder = std::fma(-q, b, a);
    return around(q, b > 0 ? remainder : -remainder);
}

Known checked(double lo, double hi) {
    if (std::isnan(lo) || std::isnan(hi) || lo > hi) return std::nullopt;
    return Interval{lo, hi};
}

Known hull(const std::array<Interval, 4>& corners) {
    Interval out = corners[0];
    for (const Interval& corner : corners) {
        if (std::isnan(corner.lo) || std::isnan(corner.hi)) return std::nullopt;
        out = {std::min(out.lo, corner.lo), std::max(out.hi, corner.hi)};
    }
    return out;
}

}  // namespace

Known negate(const Known& a) {
    if (!a) return a;
    return checked(-a->hi, -a->lo);
}

Known add(const Known& a, const Known& b) {
    if (!a || !b) return std::nullopt;
    return checked(sum_of(a->lo, b->lo).lo, sum_of(a->hi, b->hi).hi);
}

Known subtract(const Known& a, const Known& b) { return add(a, negate(b)); }

Known multiply(const Known& a, const Known& b) {
    if (!a || !b) return std::nullopt;
    return hull({product_of(a->lo, b->lo), product_of(a->lo, b->hi), product_of(a->hi, b->lo),
                 product_of(a->hi, b->hi)});
}

Known divide(const Known& a, const Known& b) {
    if (!a || !b || !(b->lo > 0 || b->hi < 0)) return std::nullopt;
    return hull({quotient_of(a->lo, b->lo), quotient_of(a->lo, b->hi), quotient_of(a->hi, b->lo),
                 quotient_of(a->hi, b->hi)});
}

Known absolute(const Known& a) {
    if (!a) return a;
    if (a->lo >= 0) return a;
    if (a->hi <= 0) return negate(a);
    return checked(0, std::max(-a->lo, a->hi));
}

Known smallest(std::span<const Known> parts) {
    Known out = Interval{kInfinity, kInfinity};
    for (const Known& part : parts) {
        if (!part) return std::nullopt;
        out->lo = std::min(out->lo, part->lo);
        out->hi = std::min(out->hi, part->hi);
    }
    return out;
}

Known largest(std::span<const Known> parts) {
    Known out = Interval{-kInfinity, -kInfinity};
    for (const Known& part : parts) {
        if (!part) return std::nullopt;
        out->lo = std::max(out->lo, part->lo);
        out->hi = std::max(out->hi, part->hi);
    }
    return out;
}

Known intersect(const Known& a, const Known& b) {
    if (!a || !b) return std::nullopt;
    return checked(std::max(a->lo, b->lo), std::min(a->hi, b->hi));
}

}  // namespace rampart::constraints
