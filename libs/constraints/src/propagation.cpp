#include <array>
#include <cmath>
#include <limits>

#include "rampart/constraints/program.hpp"

namespace rampart::constraints {
namespace {

using Kind = Formula::Kind;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Known point(double x) { return std::isnan(x) ? std::nullopt : Known(Interval{x, x}); }

Known threshold_of(const Thresholds& t, size_t leaf) {
    return leaf < t.of_leaf.size() ? point(t.of_leaf[leaf]) : std::nullopt;
}

/// Returns the interval of a cvar; one of no statement has none.
Known cvar_interval(const Formula& f, std::span<const Known> leaves, const Thresholds& t) {
    const Interval range = t.impact_range;
    const auto is_leaf = [&](size_t i) { return f.parts[i].kind == Kind::kLeaf; };
    const auto c_of = [&](size_t i) { return threshold_of(t, f.parts[i].leaf); };
    const Known alpha = point(f.number);
    Known out = range;
    if (is_leaf(0)) {
        const Known s = leaves[f.parts[0].leaf];
        if (!s) return std::nullopt;
        const Known least = add(c_of(0), divide(point(s->lo), alpha));
        out = least ? intersect(out, Interval{least->lo, kInfinity}) : least;
    }
    if (!is_leaf(1)) return out;
    const Known s = leaves[f.parts[1].leaf], p = leaves[f.parts[2].leaf];
    if (!s || !p) return std::nullopt;
    const Known c = c_of(1), shortfall = point(s->hi);
    Known most = Interval{-kInfinity, -kInfinity};
    if (p->lo < f.number) {
        const Known rest = subtract(point(1), divide(point(p->lo), alpha));
        most = add(add(c, divide(shortfall, alpha)), multiply(rest, subtract(point(range.hi), c)));
    }
    if (p->hi >= f.number) {
        const std::array<Known, 2> both{most, add(c, divide(shortfall, point(p->hi)))};
        most = largest(both);
    }
    return most ? intersect(out, Interval{-kInfinity, most->hi}) : most;
}

/// Returns the interval of a quantile; an end of no statement is that of the declared range.
Known quantile_interval(const Formula& f, std::span<const Known> leaves, const Thresholds& t) {
    Interval out = t.impact_range;
    for (size_t i = 0; i < 2; ++i) {
        if (f.parts[i].kind != Kind::kLeaf) continue;
        const Known &share = leaves[f.parts[i].leaf], c = threshold_of(t, f.parts[i].leaf);
        if (!share || !c) return std::nullopt;
        if (i == 0 && share->hi < f.number) out.lo = std::max(out.lo, c->lo);
        if (i == 1 && share->lo >= f.number) out.hi = std::min(out.hi, c->hi);
    }
    return intersect(out, out);
}

}  // namespace

Known propagate(const Formula& f, std::span<const Known> leaves, const Thresholds& thresholds) {
    if (f.kind == Kind::kNumber) {
        if (std::isnan(f.number)) return std::nullopt;
        return Interval{f.number, f.number};
    }
    if (f.kind == Kind::kLeaf) return leaves[f.leaf];
    if (f.kind == Kind::kCvar) return cvar_interval(f, leaves, thresholds);
    if (f.kind == Kind::kQuantile) return quantile_interval(f, leaves, thresholds);
    std::vector<Known> parts;
    for (const Formula& part : f.parts) parts.push_back(propagate(part, leaves, thresholds));
    switch (f.kind) {
        case Kind::kNegate:
            return negate(parts[0]);
        case Kind::kAdd:
            return add(parts[0], parts[1]);
        case Kind::kSubtract:
            return subtract(parts[0], parts[1]);
        case Kind::kMultiply:
            return multiply(parts[0], parts[1]);
        case Kind::kDivide:
            return divide(parts[0], parts[1]);
        case Kind::kAbs:
            return absolute(parts[0]);
        case Kind::kMin:
            return smallest(parts);
        case Kind::kMax:
            return largest(parts);
        case Kind::kNumber:
        case Kind::kLeaf:
        case Kind::kCvar:
        case Kind::kQuantile:
            break;
    }
    return std::nullopt;
}

}  // namespace rampart::constraints
