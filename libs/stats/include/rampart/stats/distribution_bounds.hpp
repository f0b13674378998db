#pragma once

#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/stats/confidence_sequence.hpp"

namespace rampart::stats {

/// A band in which a distribution function lies as a whole: lower[k] <= F(points[k]) <= upper[k]
/// for all k at once, and all values in [lo, hi]. Between the points F is only known to rise.
///
/// The functions below give the exact range, over every distribution in the band, of a quantity of
/// the distribution (Chandak et al. 2021, "Universal off-policy evaluation", appendix E): if the
/// band holds with confidence 1 - delta, so do all of them together. Pure; safe from many threads.
struct DistributionBand {
    double lo = 0, hi = 0;
    std::vector<double> points;        // ascending, distinct, in [lo, hi); at least one
    std::vector<double> lower, upper;  // in [0, 1], one per point
};

/// The band that says the same with bounds that rise, as F does: lower made its running maximum,
/// upper its running minimum from the right. Errors (invalid_argument "bad_band") naming the point:
/// shapes, order, NaN, or no distribution at all within the band (lower above upper), which bounds
/// with the stated confidence rarely give: nothing may be concluded from such a band.
base::Result<DistributionBand> monotone(DistributionBand band);

/// For a band from monotone() only.

/// Values v with F(v) >= p for the first time; p in (0, 1). Outside: (-inf, inf).
Interval quantile_interval(const DistributionBand& band, double p);

Interval mean_interval(const DistributionBand& band);

/// Mean of the lowest share `alpha` of the distribution, alpha in (0, 1]: of impacts, what the
/// worst off can expect. Outside: (-inf, inf).
Interval cvar_interval(const DistributionBand& band, double alpha);

Interval variance_interval(const DistributionBand& band);

}  // namespace rampart::stats
