#pragma once

#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/stats/confidence_sequence.hpp"

namespace rampart::stats {

/// Simultaneous band around a distribution function: lower[k] <= F(points[k]) <= upper[k] for all
/// k at once, and all values in [lo, hi]. Between the points F is only known to be nondecreasing.
///
/// The functions below return the exact range of a functional over every distribution in the band
/// (Chandak et al. 2021, "Universal off-policy evaluation", appendix E): if the band holds with
/// confidence 1 - delta, then so do all of them together. Pure; safe from many threads.
struct DistributionBand {
    double lo = 0, hi = 0;
    std::vector<double> points;        // ascending, distinct, in [lo, hi); at least one
    std::vector<double> lower, upper;  // in [0, 1], one per point
};

/// Returns the equivalent band with monotone bounds: `lower` as running maximum, `upper` as running
/// minimum from the right. Fails with invalid_argument "bad_band", naming the point, on wrong
/// shapes or order, NaN, or an empty band (lower above upper), which is unlikely if the bounds have
/// their stated confidence: no conclusion may be drawn from such a band.
base::Result<DistributionBand> monotone(DistributionBand band);

/// Functions of a band that monotone() returned.

/// Bounds the p-quantile, the smallest v with F(v) >= p; p in (0, 1). Otherwise (-inf, inf).
Interval quantile_interval(const DistributionBand& band, double p);

Interval mean_interval(const DistributionBand& band);

/// Bounds the mean of the lowest share `alpha` of the distribution (CVaR), alpha in (0, 1]: of
/// impacts, the mean of the worst-off. Otherwise (-inf, inf).
Interval cvar_interval(const DistributionBand& band, double alpha);

Interval variance_interval(const DistributionBand& band);

}  // namespace rampart::stats
