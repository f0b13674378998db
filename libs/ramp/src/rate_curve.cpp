#include "rate_curve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rampart::ramp {
namespace {

constexpr double kSameRate = 1e-14;

/// The first of [0, n) for which `passed` holds, n if none; it holds for all after it.
template <class Passed>
size_t first_that(size_t n, Passed passed) {
    size_t lo = 0, hi = n;
    while (lo < hi) {
        const size_t middle = lo + (hi - lo) / 2;
        if (passed(middle))
            hi = middle;
        else
            lo = middle + 1;
    }
    return lo;
}

double middle(double lo, double hi) { return lo + (hi - lo) / 2; }

}  // namespace

RateCurve::RateCurve(const SortedScores& rows, double gamma, double offset, RateMoment z)
    : rows_(&rows), gamma_(gamma), offset_(offset), z_(z) {
    const auto scores = rows.score();
    first_ = first_that(scores.size() - 1, [&](size_t i) { return z_of(scores[i]) > 0; });
}

RateCurve::Knots RateCurve::knots(bool leaving, double nu) const {
    const double shift = (leaving ? gamma_ * offset_ : -gamma_ * (1 - offset_)) - nu;
    return {shift, z_.constant - z_.linear * shift >= 0};
}

double RateCurve::knot(const Knots& knots, size_t i) const {
    const size_t row = knots.ascending ? first_ + i : rows_->score().size() - 1 - i;
    const double f = rows_->score()[row];
    return (f + knots.shift) / z_of(f);
}

double RateCurve::reach(double nu) const {
    double most = 0;
    for (const bool leaving : {false, true}) {
        const Knots list = knots(leaving, nu);
        most = std::max({most, std::abs(knot(list, 0)), std::abs(knot(list, knot_count() - 1))});
    }
    return 2 * most + 4 + 4 * gamma_;
}

Ramp RateCurve::ramp(double tau, double nu) const {
    return {1 - tau * z_.linear, nu + tau * z_.constant, gamma_, offset_, 1};
}

double RateCurve::rate(double tau, double nu) const {
    const RampTotals totals = rows_->totals(ramp(tau, nu));
    const long double sum = z_.constant * totals.q + z_.linear * totals.fq;
    return std::clamp(static_cast<double>(sum / rows_->weight()), 0.0, 1.0);
}

double RateCurve::share_from(size_t row) const {
    const ScoreSums sums = rows_->sums(row, rows_->score().size());
    return static_cast<double>((z_.constant * sums.w + z_.linear * sums.wf) / rows_->weight());
}

stats::Interval RateCurve::rates_at(double nu) const {
    if (gamma_ > 0) {
        const double r = rate(0, nu);
        return {r, r};
    }
    const auto scores = rows_->score();
    const auto [from, to] = std::equal_range(scores.begin(), scores.end(), nu);
    return {share_from(static_cast<size_t>(to - scores.begin())),
            share_from(static_cast<size_t>(from - scores.begin()))};
}

/// Minus the derivative of the rate by tau; 0 exactly where no row is on the slope.
long double RateCurve::fall(const RampTotals& totals) const {
    const long double c = z_.constant, l = z_.linear;
    const auto& in = totals.inside;
    return (c * c * in.w + 2 * c * l * in.wf + l * l * in.wff) / gamma_ / rows_->weight();
}

/// Where the polyline meets r, between the last knot whose rate has not `passed` r and the first
/// whose rate has. At a knot the rate of the rows that begin or end their slope there is rounded
/// by 1e-16 / gamma, so the ends of a flat piece may lie on two sides of r: then the end asked for.
template <class Passed>
RateCurve::Crossing RateCurve::crossing(double r, double nu, FlatEnd flat, Passed passed) const {
    constexpr double kNone = std::numeric_limits<double>::infinity();
    double left = -kNone, right = kNone;
    for (const bool leaving : {false, true}) {
        const Knots list = knots(leaving, nu);
        const size_t n = knot_count();
        const size_t at = first_that(n, [&](size_t i) {
            const double tau = knot(list, i);
            return tau >= right || (tau > left && passed(rate(tau, nu)));
        });
        if (at < n) right = std::min(right, knot(list, at));
        if (at > 0) left = std::max(left, knot(list, at - 1));
    }
    // none: rounding at the ends, where rates are 1 and 0
    if (left == -kNone) return {right, false};
    if (right == kNone) return {left, false};
    const double above = rate(left, nu), below = rate(right, nu);
    if (!(above > below)) return {left, false};
    if (!(fall(rows_->totals(ramp(middle(left, right), nu))) > 0))
        return {flat == FlatEnd::kLeft ? left : right, false};
    const double share = std::clamp((above - r) / (above - below), 0.0, 1.0);
    return {left + share * (right - left), share > 0 && share < 1};
}

stats::Interval RateCurve::thresholds_at(double r, double slack, double nu, double far) const {
    const double above = r + slack, below = r - slack;
    stats::Interval found{-far, far};
    if (gamma_ > 0) {
        if (above < 1) {
            const Crossing at =
                crossing(above, nu, FlatEnd::kLeft, [&](double rate) { return rate <= above; });
            if (slack == 0 && at.between_knots) return {at.tau, at.tau};
            found.lo = at.tau;
        }
        if (below > 0)
            found.hi =
                crossing(below, nu, FlatEnd::kRight, [&](double rate) { return rate < below; }).tau;
        return found;
    }
    const Knots list = knots(true, nu);
    const size_t n = knot_count();
    const auto knot_at = [&](size_t i) { return knot(list, std::min(i, n - 1)); };
    if (above < 1)
        found.lo =
            knot_at(first_that(n, [&](size_t i) { return share_from(first_ + i + 1) <= above; }));
    if (below > 0) {
        const size_t short_of =
            first_that(n, [&](size_t i) { return share_from(first_ + i) < below; });
        found.hi = knot_at(short_of > 0 ? short_of - 1 : 0);
    }
    return found;
}

/// One more step of Newton's method, from a tau on the right piece of the polyline: takes away the
/// rounding of its interpolation.
double RateCurve::refined(double tau, double r, double nu) const {
    const RampTotals totals = rows_->totals(ramp(tau, nu));
    const long double slope = fall(totals);
    if (!(slope > 0)) return tau;
    const long double miss = (z_.constant * totals.q + z_.linear * totals.fq) / rows_->weight() - r;
    const double next = static_cast<double>(tau + miss / slope);
    return std::abs(rate(next, nu) - r) <= std::abs(rate(tau, nu) - r) ? next : tau;
}

Ramp RateCurve::step_for(double r, double nu) const {
    const auto scores = rows_->score();
    const size_t n = knot_count();
    const auto riser_at = [&](double f) { return rates_at(f); };
    double threshold = nu;
    stats::Interval riser = riser_at(nu);
    if (r < riser.lo - kSameRate || r > riser.hi + kSameRate) {
        const auto score_at = [&](size_t i) { return scores[first_ + std::min(i, n - 1)]; };
        const double lo = score_at(
            first_that(n, [&](size_t i) { return share_from(first_ + i + 1) <= r + kSameRate; }));
        const size_t short_of =
            first_that(n, [&](size_t i) { return share_from(first_ + i) < r - kSameRate; });
        const double hi = score_at(short_of > 0 ? short_of - 1 : 0);
        threshold = middle(std::min(lo, hi), std::max(lo, hi));
        riser = riser_at(threshold);
    }
    const double tie =
        riser.hi > riser.lo ? std::clamp((r - riser.lo) / (riser.hi - riser.lo), 0.0, 1.0) : 1;
    return {1, threshold, 0, offset_, tie};
}

Ramp RateCurve::ramp_for(double r, double nu) const {
    if (gamma_ == 0) return step_for(r, nu);
    const auto found = thresholds_at(r, kSameRate, nu, std::numeric_limits<double>::infinity());
    if (found.lo <= 0 && found.hi >= 0) return ramp(0, nu);
    const Knots entering = knots(false, nu), leaving = knots(true, nu);
    const double lo = std::max(found.lo, knot(entering, 0));
    const double hi = std::min(found.hi, knot(leaving, knot_count() - 1));
    return ramp(refined(middle(lo, hi), r, nu), nu);
}

double RateCurve::dual(double tau, double nu) const {
    const RampTotals totals = rows_->exact_totals(ramp(tau, nu));
    const long double pulled = z_.constant * totals.q + z_.linear * totals.fq;
    const long double sum = totals.penalty - totals.fq + nu * totals.q + tau * pulled;
    return static_cast<double>(sum / rows_->weight());
}

}  // namespace rampart::ramp
