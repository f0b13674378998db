#pragma once

#include <optional>

#include "rampart/base/result.hpp"
#include "rampart/stats/interval.hpp"

namespace rampart::reference {

/// Off-policy evaluation for a continuous action (a limit, a rate, a predicted label) drawn
/// from a density: the regression setting of Weber et al. (2022, ELF), appendix C.1.
/// Probabilities become densities, sums over actions become integrals. Pure; safe to call from
/// many threads.

/// Normal distribution around `location`, truncated to [lo, hi] and renormalised: a regression
/// policy that explores around its prediction, never outside a declared range. Its density is
/// bounded there, and so are ratios of two such densities.
class TruncatedNormal {
  public:
    /// Fails with invalid_argument "bad_density": numbers that are not finite, scale <= 0, lo >=
    /// hi, or less than 1e-6 of the untruncated normal's mass in [lo, hi].
    static base::Result<TruncatedNormal> make(double location, double scale, double lo, double hi);

    double density(double y) const;   // 0 outside [lo, hi]
    double cdf(double y) const;       // P(Y <= y)
    double quantile(double u) const;  // inverse of cdf; u in [0, 1]
    double mean() const;
    stats::Interval support() const { return {lo_, hi_}; }

    /// ln density(y) = curvature y^2 + slope y + constant, on [lo, hi].
    struct LogDensity {
        double curvature = 0, slope = 0, constant = 0;
    };
    LogDensity log_density() const;

  private:
    TruncatedNormal() = default;
    double location_ = 0, scale_ = 1, lo_ = 0, hi_ = 0;
    double below_ = 0, mass_ = 1;  // mass of the untruncated normal below lo, and within
};

/// Returns the smallest and largest pi(y) / p(y) over their common support, rounded outwards. The
/// supports must be equal (RAMPART_CHECK).
stats::Interval ratio_range(const TruncatedNormal& pi, const TruncatedNormal& p);

/// Returns the mass of pi above max_weight p: the integral of max(0, pi - max_weight p), rounded
/// up. Requires max_weight >= 1 and equal supports, as above.
double excess_mass(const TruncatedNormal& pi, const TruncatedNormal& p, double max_weight);

/// Parameters common to all records.
struct DensityModel {
    double lo = 0, hi = 0;  // [a, b] of the impact, declared
    double q = 0;           // centre in [a, b], from other data
    /// tau: compare the candidate's mean impact with this constant; none: with the reference.
    std::optional<double> absolute{};
    /// M >= 1: the candidate counts as min(pi, M p); the rest counts with the worst impact, a.
    std::optional<double> max_weight{};
};

/// One record: densities at the drawn action.
struct DensityRecord {
    double logger = 0;             // p(y|x) of the logging policy, > 0
    double candidate = 0;          // pi(y|x)
    double reference = 0;          // s(y|x); unused with model.absolute
    double excess = 0;             // excess_mass given x or more; only with model.max_weight
    std::optional<double> impact;  // none: missing, replaced by the worst case for the candidate
};

/// Returns Z. With w = pi / p, v = s / p at the action, w truncated to M, r = excess (max_weight):
///     Z = (w - v)(I - q) + r (a - q)            against the reference
///     Z = w (I - q) + q + r (a - q) - tau       against a constant
/// E[Z | x] = integral of (pi - s)(y) E[I | x, y] dy, or of pi(y) E[I | x, y] dy - tau; at most
/// that if truncated. NaN for a density that is negative or not finite, or if a divisor is 0.
double density_change(const DensityRecord& record, const DensityModel& model);

/// Bounds of pi / p and of s / p over all actions given x (ratio_range); reference unused with
/// model.absolute. If the reference made the decision, its ratio is 1.
struct RatioBounds {
    stats::Interval candidate, reference{1, 1};
};

/// Returns an interval that contains Z for every action and impact: exact for a constant and if the
/// reference made the decision, otherwise no wider than the two ratios treated separately.
stats::Interval density_range(const RatioBounds& ratios, double excess, const DensityModel& model);

}  // namespace rampart::reference
