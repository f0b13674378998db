#pragma once

#include <utility>
#include <vector>

#include "rampart/stats/metrics.hpp"

namespace rampart::fairness {

/// One group's approval rate as a function of its threshold: h(t) = weighted mean of
/// clip((f - t) / gamma + offset, 0, 1), a nonincreasing polyline from 1 to 0; for gamma = 0 a
/// staircase whose risers belong to it (any rate on a riser is reached by a coin for the ties).
class RateCurve {
  public:
    /// (score, weight) pairs, in any order, at least one.
    RateCurve(std::vector<std::pair<double, double>> rows, double gamma, double offset);

    double weight() const { return weight_; }

    /// The rates at threshold t: one number, or the ends of a riser.
    stats::Interval rates_at(double t) const;

    /// The thresholds whose rate is r ± slack: where the curve is flat an interval. At r = 1 and r
    /// = 0 it reaches to -infinity and infinity: those ends are given as ∓ `far`.
    stats::Interval thresholds_at(double r, double slack, double far) const;

    /// A threshold to use for rate r: `preferred` if it has that rate, else the middle of those
    /// that have, as far as the scores reach. "Has" means to 1e-14.
    double threshold_for(double r, double preferred) const;

    /// gamma = 0: the probability for scores equal to t that makes the rate r; 1 if there are none.
    double tie_for(double t, double r) const;

    /// Weighted mean over rows of  min over q in [0, 1] of  gamma/2 (q - offset)^2 - f·q + t·q.
    double dual(double t) const;

  private:
    void add_steps();
    void add_ramps();
    void add_point(double t, double r);
    double threshold_between(size_t left, double r) const;

    std::vector<std::pair<double, double>> rows_;  // sorted
    double gamma_, offset_;
    double weight_ = 0;
    std::vector<double> t_, r_;  // the polyline's points; t nondecreasing, r nonincreasing
};

}  // namespace rampart::fairness
