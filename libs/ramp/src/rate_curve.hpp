#pragma once

#include "rampart/stats/metrics.hpp"
#include "sorted_scores.hpp"

namespace rampart::ramp {

/// What parity is asked of: the weighted mean over a group of z·q with z = constant + linear·f >=
/// 0, whose own mean is 1. Approval: {1, 0}. Approval among the favourable, with eta = (f + 1) / 2
/// and pi its mean: z = eta / pi, {1 / (2 pi), 1 / (2 pi)}.
struct RateMoment {
    double constant = 1, linear = 0;
};

/// One group's rate as a function of its multiplier tau, for a shift nu that all groups share:
///   h(tau) = weighted mean of z · clip((f - nu - tau·z) / gamma + offset, 0, 1),
/// a nonincreasing polyline from 1 to 0 whose knots are where rows enter and leave the slope; they
/// are never written down, since the rows' order is theirs. For gamma = 0 a staircase whose risers
/// belong to it: any rate on a riser is reached by a coin for the ties. nu > -constant/linear then.
class RateCurve {
  public:
    /// The rows must outlive it.
    RateCurve(const SortedScores& rows, double gamma, double offset, RateMoment z);

    double weight() const { return rows_->weight(); }

    /// The rates at tau = 0: one number, or the ends of a riser.
    stats::Interval rates_at(double nu) const;

    /// The tau whose rate is r ± slack: where the curve is flat an interval. At r = 1 and r = 0 it
    /// reaches to -infinity and infinity: those ends are given as ∓ `far`.
    stats::Interval thresholds_at(double r, double slack, double nu, double far) const;

    /// The ramp with rate r: that of tau = 0 if it has that rate, else the middle of those that
    /// have, as far as the scores reach. "Has" means to 1e-14.
    Ramp ramp_for(double r, double nu) const;

    /// Weighted mean over rows of  min over q in [0, 1] of
    ///   gamma/2 (q - offset)^2 - (f - nu - tau·z)·q.
    double dual(double tau, double nu) const;

    /// Larger than every |tau| at which the curve is not flat.
    double reach(double nu) const;

  private:
    /// Knots in the order of the scores: ascending, or descending.
    struct Knots {
        double shift;  // knot of row i: (f_i + shift) / z_i
        bool ascending;
    };
    double z_of(double f) const { return z_.constant + z_.linear * f; }
    Knots knots(bool leaving, double nu) const;
    double knot(const Knots& knots, size_t i) const;  // i-th by size
    size_t knot_count() const { return rows_->score().size() - first_; }
    Ramp ramp(double tau, double nu) const;
    double rate(double tau, double nu) const;
    struct Crossing {
        double tau;
        bool between_knots;  // strictly: no other tau has the rate
    };
    enum class FlatEnd { kLeft, kRight };
    template <class Passed>
    Crossing crossing(double r, double nu, FlatEnd flat, Passed passed) const;
    long double fall(const RampTotals& totals) const;
    double refined(double tau, double r, double nu) const;
    double share_from(size_t row) const;  // share of rows [row, n), as they count in the rate
    Ramp step_for(double r, double nu) const;

    const SortedScores* rows_;
    double gamma_, offset_;
    RateMoment z_;
    size_t first_;  // rows before it have z = 0
};

}  // namespace rampart::ramp
