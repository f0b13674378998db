#include "rampart/stats/distribution_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "rampart/stats/reasons.hpp"

namespace rampart::stats {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

/// A discrete distribution on finitely many values, ascending.
struct Masses {
    std::vector<double> values, masses;
};

/// Returns the distribution with every mass as far right as the band allows: F = lower, which jumps
/// at the points and at hi.
Masses highest(const DistributionBand& band) {
    Masses out{band.points, {}};
    double before = 0;
    for (const double f : band.lower) {
        out.masses.push_back(f - before);
        before = f;
    }
    out.values.push_back(band.hi);
    out.masses.push_back(1 - before);
    return out;
}

/// Returns the distribution with every mass as far left as the band allows: F reaches upper[k] just
/// above the previous point, so the mass up to points[k] is put at points[k - 1] or, for the first,
/// at lo; the mass above the last point is put there.
Masses lowest(const DistributionBand& band) {
    Masses out{{band.lo}, {}};
    out.values.insert(out.values.end(), band.points.begin(), band.points.end());
    double before = 0;
    for (const double f : band.upper) {
        out.masses.push_back(f - before);
        before = f;
    }
    out.masses.push_back(1 - before);
    return out;
}

/// Returns the mean of the lowest share `alpha`.
double lower_mean(const Masses& d, double alpha) {
    Sum sum;
    double left = alpha;
    for (size_t k = 0; k < d.values.size() && left > 0; ++k) {
        const double mass = std::min(d.masses[k], left);
        sum.add(mass * d.values[k]);
        left -= mass;
    }
    // the mass that rounding left over is put at the top
    if (left > 0) sum.add(left * d.values.back());
    return sum.value() / alpha;
}

/// Returns more than the rounding errors of a few sums over the band's points.
double slack(const DistributionBand& band) {
    return 16 * kEpsilon * static_cast<double>(band.points.size() + 2) *
           std::max(std::abs(band.lo), std::abs(band.hi));
}

/// Returns sup over the band of E (X - centre)^2: all mass as far from the centre as possible.
double max_second_moment(const Masses& low, const Masses& high, double centre) {
    // F = upper below the centre and lower above: walks both and gives each level to the further
    // end.
    Sum sum;
    size_t i = 0, j = 0;
    double low_left = low.masses[0], high_left = high.masses[0], level = 0;
    while (level < 1 && i < low.values.size() && j < high.values.size()) {
        const double step = std::min({low_left, high_left, 1 - level});
        const double a = low.values[i] - centre, b = high.values[j] - centre;
        // within a level the quantile may take any value between the two
        sum.add(step * std::max(a * a, b * b));
        level += step;
        low_left -= step;
        high_left -= step;
        if (low_left <= 0 && ++i < low.values.size()) low_left = low.masses[i];
        if (high_left <= 0 && ++j < high.values.size()) high_left = high.masses[j];
    }
    return sum.value();
}

/// Returns inf over the band and over the centre of E (X - centre)^2. For a given centre, each
/// level's quantile is the nearest point of its interval, so mass below the centre takes the values
/// of `high` and mass above it those of `low`. Between two neighbouring values of either the masses
/// do not change and the objective is a parabola in the centre, whose minimum is known in closed
/// form.
double min_variance(const Masses& low, const Masses& high) {
    std::vector<double> ends(low.values);
    ends.insert(ends.end(), high.values.begin(), high.values.end());
    std::sort(ends.begin(), ends.end());
    double best = kInfinity;
    for (size_t e = 0; e + 1 < ends.size(); ++e) {
        const double from = ends[e], to = ends[e + 1], middle = from + (to - from) / 2;
        double mass = 0, first = 0, second = 0;
        const auto take = [&](double m, double v) {  // relative to the middle, against cancellation
            mass += m;
            first += m * (v - middle);
            second += m * (v - middle) * (v - middle);
        };
        for (size_t k = 0; k < high.values.size(); ++k) {
            if (high.values[k] <= middle) take(high.masses[k], high.values[k]);
        }
        for (size_t k = 0; k < low.values.size(); ++k) {
            if (low.values[k] > middle) take(low.masses[k], low.values[k]);
        }
        const double half = (to - from) / 2;
        const double centre = mass > 0 ? std::clamp(first / mass, -half, half) : 0;
        best = std::min(best, second - 2 * centre * first + mass * centre * centre);
    }
    return std::max(0.0, best);
}

}  // namespace

base::Result<DistributionBand> monotone(DistributionBand band) {
    const auto bad = [](const std::string& what) {
        return base::make_error(Reason::kBadBand, "{}", what);
    };
    const size_t n = band.points.size();
    if (n == 0 || band.lower.size() != n || band.upper.size() != n) {
        return bad(
            fmt::format("{} points, {} lower and {} upper bounds: as many of each, at least one", n,
                        band.lower.size(), band.upper.size()));
    }
    if (!(std::isfinite(band.lo) && std::isfinite(band.hi) && band.lo < band.hi)) {
        return bad(
            fmt::format("the values' range is [{}, {}]: lo < hi, both finite", band.lo, band.hi));
    }
    for (size_t k = 0; k < n; ++k) {
        if (!(band.points[k] >= (k == 0 ? band.lo : band.points[k - 1]) &&
              band.points[k] < band.hi) ||
            (k > 0 && band.points[k] == band.points[k - 1])) {
            return bad(
                fmt::format("point {} is {}: ascending, distinct, in [lo, hi)", k, band.points[k]));
        }
        if (std::isnan(band.lower[k]) || std::isnan(band.upper[k])) {
            return bad(fmt::format("a bound at point {} is NaN", band.points[k]));
        }
        band.lower[k] = std::clamp(band.lower[k], 0.0, 1.0);
        band.upper[k] = std::clamp(band.upper[k], 0.0, 1.0);
        if (k > 0) band.lower[k] = std::max(band.lower[k], band.lower[k - 1]);
    }
    for (size_t k = n; k-- > 0;) {
        if (k + 1 < n) band.upper[k] = std::min(band.upper[k], band.upper[k + 1]);
        if (band.lower[k] > band.upper[k]) {
            return bad(
                fmt::format("at {} the lower bound {} is above the upper {}: no distribution fits",
                            band.points[k], band.lower[k], band.upper[k]));
        }
    }
    return band;
}

Interval quantile_interval(const DistributionBand& band, double p) {
    if (!(p > 0 && p < 1)) return {-kInfinity, kInfinity};
    Interval out{band.lo, band.hi};
    for (size_t k = 0; k < band.points.size(); ++k) {
        if (band.upper[k] < p) out.lo = band.points[k];
    }
    for (size_t k = band.points.size(); k-- > 0;) {
        if (band.lower[k] >= p) out.hi = band.points[k];
    }
    return out;
}

Interval mean_interval(const DistributionBand& band) { return cvar_interval(band, 1); }

Interval cvar_interval(const DistributionBand& band, double alpha) {
    if (!(alpha > 0 && alpha <= 1)) return {-kInfinity, kInfinity};
    const double outwards = slack(band) / alpha;
    return {std::max(band.lo, lower_mean(lowest(band), alpha) - outwards),
            std::min(band.hi, lower_mean(highest(band), alpha) + outwards)};
}

Interval variance_interval(const DistributionBand& band) {
    const Masses low = lowest(band), high = highest(band);
    // sup inf = inf sup: E (X - c)^2 is linear in the distribution and convex in c. The bound is
    // valid for whichever centre the search ends with.
    double from = band.lo, to = band.hi;
    for (int i = 0; i < 100; ++i) {
        const double third = (to - from) / 3;
        const double left = from + third, right = to - third;
        if (max_second_moment(low, high, left) <= max_second_moment(low, high, right)) {
            to = right;
        } else {
            from = left;
        }
    }
    const double outwards = slack(band) * (band.hi - band.lo) * 4;
    const double most = max_second_moment(low, high, from + (to - from) / 2) + outwards;
    const double least = std::max(0.0, min_variance(low, high) - outwards);
    const double half = (band.hi - band.lo) / 2;
    return {least, std::min(most, half * half)};
}

}  // namespace rampart::stats
