#include "reference/density.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "rampart/base/check.hpp"
#include "rampart/stats/distributions.hpp"
#include "reference/reasons.hpp"

namespace rampart::reference {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastMass = 1e-6;
constexpr double kRounding = 1e-10;  // larger than that of a few quantities of size 1 / kLeastMass

double standard_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

/// Returns ln(pi / p), which is a parabola.
TruncatedNormal::LogDensity log_ratio(const TruncatedNormal& pi, const TruncatedNormal& p) {
    RAMPART_CHECK(pi.support().lo == p.support().lo && pi.support().hi == p.support().hi,
                  "a ratio needs one support");
    const auto above = pi.log_density(), below = p.log_density();
    return {above.curvature - below.curvature, above.slope - below.slope,
            above.constant - below.constant};
}

double at(const TruncatedNormal::LogDensity& f, double y) {
    return (f.curvature * y + f.slope) * y + f.constant;
}

/// Returns the zeros of f, at most two, in any order; an unused place holds a value to be ignored.
std::array<double, 2> roots(const TruncatedNormal::LogDensity& f) {
    const double root = std::sqrt(f.slope * f.slope - 4 * f.curvature * f.constant);
    // the stable form: never the difference of two close numbers
    const double sum = -(f.slope + std::copysign(root, f.slope)) / 2;
    return {sum / f.curvature, f.constant / sum};
}

bool usable(const DensityRecord& r, const DensityModel& m) {
    const auto density = [](double x) { return x >= 0 && std::isfinite(x); };
    return density(r.candidate) && std::isfinite(r.logger) && r.logger > 0 &&
           (m.absolute || density(r.reference)) && (!m.max_weight || density(r.excess));
}

/// Returns the part of Z that does not depend on the draw.
double offset(const DensityModel& m, double excess) {
    return (m.absolute ? m.q - *m.absolute : 0) + (m.max_weight ? excess * (m.lo - m.q) : 0);
}

}  // namespace

base::Result<TruncatedNormal> TruncatedNormal::make(double location, double scale, double lo,
                                                    double hi) {
    TruncatedNormal out;
    out.location_ = location;
    out.scale_ = scale;
    out.lo_ = lo;
    out.hi_ = hi;
    const bool finite =
        std::isfinite(location) && std::isfinite(scale) && std::isfinite(lo) && std::isfinite(hi);
    if (finite && scale > 0 && lo < hi) {
        out.below_ = stats::normal_cdf((lo - location) / scale);
        out.mass_ = stats::normal_cdf((hi - location) / scale) - out.below_;
        if (out.mass_ >= kLeastMass) return out;
    }
    return base::make_error(
        Reason::kBadDensity,
        "normal around {} with scale {} on [{}, {}]: scale must be positive, the interval not "
        "empty, and hold at least {} of the mass",
        location, scale, lo, hi, kLeastMass);
}

double TruncatedNormal::density(double y) const {
    if (!(y >= lo_ && y <= hi_)) return 0;
    return standard_density((y - location_) / scale_) / (scale_ * mass_);
}

double TruncatedNormal::cdf(double y) const {
    if (y <= lo_) return 0;
    if (y >= hi_) return 1;
    return std::clamp((stats::normal_cdf((y - location_) / scale_) - below_) / mass_, 0.0, 1.0);
}

double TruncatedNormal::quantile(double u) const {
    const double p = below_ + u * mass_;
    if (!(u > 0 && p > 0)) return lo_;
    if (u >= 1 || p >= 1) return hi_;
    const double y = location_ + scale_ * stats::normal_quantile(p);
    return std::clamp(y, lo_, hi_);
}

double TruncatedNormal::mean() const {
    const double fall =
        standard_density((lo_ - location_) / scale_) - standard_density((hi_ - location_) / scale_);
    return location_ + scale_ * fall / mass_;
}

TruncatedNormal::LogDensity TruncatedNormal::log_density() const {
    const double precision = 1 / (scale_ * scale_);
    return {-precision / 2, location_ * precision,
            -location_ * location_ * precision / 2 -
                std::log(scale_ * mass_ * std::sqrt(2 * std::numbers::pi))};
}

stats::Interval ratio_range(const TruncatedNormal& pi, const TruncatedNormal& p) {
    const auto f = log_ratio(pi, p);
    const stats::Interval support = pi.support();
    const double vertex = -f.slope / (2 * f.curvature);
    double least = std::min(at(f, support.lo), at(f, support.hi));
    double most = std::max(at(f, support.lo), at(f, support.hi));
    if (vertex > support.lo && vertex < support.hi) {  // false for NaN
        least = std::min(least, at(f, vertex));
        most = std::max(most, at(f, vertex));
    }
    return {std::exp(least) * (1 - kRounding), std::exp(most) * (1 + kRounding)};
}

double excess_mass(const TruncatedNormal& pi, const TruncatedNormal& p, double max_weight) {
    RAMPART_CHECK(max_weight >= 1, "max_weight {}", max_weight);
    auto f = log_ratio(pi, p);
    f.constant -= std::log(max_weight);
    const stats::Interval support = pi.support();
    std::array<double, 4> ends{support.lo, support.hi, support.hi, support.hi};
    for (size_t k = 0; k < 2; ++k) {
        const double root = roots(f)[k];
        if (root > support.lo && root < support.hi) ends[k + 1] = root;
    }
    std::sort(ends.begin(), ends.end());
    double excess = 0;
    for (size_t k = 0; k + 1 < ends.size(); ++k) {
        const double from = ends[k], to = ends[k + 1];
        if (!(to > from) || !(at(f, from + (to - from) / 2) > 0)) continue;
        excess += pi.cdf(to) - pi.cdf(from) - max_weight * (p.cdf(to) - p.cdf(from));
    }
    return std::clamp(excess + kRounding, 0.0, 1.0);
}

double density_change(const DensityRecord& record, const DensityModel& model) {
    if (!usable(record, model)) return kNaN;
    double change = record.candidate / record.logger;
    if (model.max_weight) change = std::min(change, *model.max_weight);
    if (!model.absolute) change -= record.reference / record.logger;
    const double worst = change > 0 ? model.lo : model.hi;
    return change * (record.impact.value_or(worst) - model.q) + offset(model, record.excess);
}

stats::Interval density_range(const RatioBounds& ratios, double excess, const DensityModel& model) {
    stats::Interval change = ratios.candidate;
    if (model.max_weight) {
        change = {std::min(change.lo, *model.max_weight), std::min(change.hi, *model.max_weight)};
    }
    if (!model.absolute) {
        change = {change.lo - ratios.reference.hi, change.hi - ratios.reference.lo};
    }
    stats::Interval out{std::numeric_limits<double>::infinity(),
                        -std::numeric_limits<double>::infinity()};
    for (const double c : {change.lo, change.hi}) {
        for (const double impact : {model.lo, model.hi}) {
            const double z = c * (impact - model.q) + offset(model, excess);
            out = {std::min(out.lo, z), std::max(out.hi, z)};
        }
    }
    return out;
}

}  // namespace rampart::reference
