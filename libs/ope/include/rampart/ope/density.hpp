#pragma once

#include <optional>

#include "rampart/base/result.hpp"
#include "rampart/ope/estimator.hpp"

namespace rampart::ope {

/// Off-policy evaluation where the action is a number on a line (a limit, a rate, a predicted
/// label), drawn from a density: the regression setting of the ELF paper, appendix C.1.
/// Probabilities become densities, sums over actions integrals. Pure; safe to call from many
/// threads.

/// Normal around `location`, cut to [lo, hi] and scaled up again: a regression policy that explores
/// around its prediction, never outside a declared range. Its density is bounded there, and so are
/// ratios of two of them.
class TruncatedNormal {
  public:
    /// Errors (invalid_argument "bad_density"): numbers that are not finite, scale <= 0, lo >= hi,
    /// or less than 1e-6 of the uncut normal's mass in [lo, hi].
    static base::Result<TruncatedNormal> make(double location, double scale, double lo, double hi);

    double density(double y) const;   // 0 outside [lo, hi]
    double cdf(double y) const;       // P(Y <= y)
    double quantile(double u) const;  // u in [0, 1]; of a uniform u, a draw
    double mean() const;
    Interval support() const { return {lo_, hi_}; }

    /// ln density(y) = curvature y^2 + slope y + constant, on [lo, hi].
    struct LogDensity {
        double curvature = 0, slope = 0, constant = 0;
    };
    LogDensity log_density() const;

  private:
    TruncatedNormal() = default;
    double location_ = 0, scale_ = 1, lo_ = 0, hi_ = 0;
    double below_ = 0, mass_ = 1;  // of the uncut normal: below lo, within
};

/// Smallest and largest pi(y) / p(y) over their support, rounded outwards. Both must have the same
/// support (a check fails otherwise): else there is none.
Interval ratio_range(const TruncatedNormal& pi, const TruncatedNormal& p);

/// Mass of pi beyond max_weight p: the integral of max(0, pi - max_weight p), rounded up.
/// max_weight >= 1. Same support as above.
double excess_mass(const TruncatedNormal& pi, const TruncatedNormal& p, double max_weight);

/// What holds for all records.
struct DensityModel {
    double lo = 0, hi = 0;  // [a, b] of the impact, declared
    double q = 0;           // centre in [a, b], from other data
    /// tau: the candidate's average impact against this constant; none: against the reference.
    std::optional<double> absolute{};
    /// M >= 1: the candidate counts with min(pi, M p) only, and what is cut off with a.
    std::optional<double> max_weight{};
};

/// One record: densities at the action that was drawn.
struct DensityRecord {
    double logger = 0;             // p(y|x) of the policy that decided it, > 0
    double candidate = 0;          // pi(y|x)
    double reference = 0;          // s(y|x); unused with model.absolute
    double excess = 0;             // excess_mass given x, or more; unused without model.max_weight
    std::optional<double> impact;  // none: missing, taken as the worst for the candidate
};

/// With w = pi / p, v = s / p at the action, w cut to M and r = excess where a max_weight is set:
///     Z = (w - v)(I - q) + r (a - q)            against the reference
///     Z = w (I - q) + q + r (a - q) - tau       against a constant
/// E[Z | x] = integral of (pi - s)(y) E[I | x, y] dy, or of pi(y) E[I | x, y] dy - tau; with a cut
/// at most that. NaN for a density that is negative, not finite, or 0 where it is divided by.
double density_change(const DensityRecord& record, const DensityModel& model);

/// Bounds of pi / p and of s / p over all actions given x (ratio_range); reference unused with
/// model.absolute. Where the reference decided, its ratio is 1.
struct RatioBounds {
    Interval candidate, reference{1, 1};
};

/// An interval in which Z lies whatever is drawn and whatever comes of it; exact for a constant and
/// where the reference decided, else no wider than the two ratios taken apart.
Interval density_range(const RatioBounds& ratios, double excess, const DensityModel& model);

}  // namespace rampart::ope
