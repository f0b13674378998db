#pragma once

#include <array>
#include <cstddef>

#include "rampart/stats/confidence_bound.hpp"

namespace rampart::ope {

/// Diagnostics of importance weights w = pi(A|x) / p(A|x); no impact is read.
struct WeightDiagnostics {
    size_t records = 0;
    double mean_weight = 0;    // near 1 if the propensities are right and the candidate overlaps
    double mean_weight_z = 0;  // (mean - 1) / standard error; 0 if all weights are 1
    double effective_records = 0;     // (sum w)^2 / sum w^2
    double max_weight_deviation = 0;  // largest |w - 1|
    double calibration_z = 0;         // for the logged propensities, independent of the candidate
    double decile_z = 0;              // the same, within tenths of the probability
};

/// What a record's weight needs besides, where referrals are drawn.
struct ReferralDraw {
    double candidate = 0, logged = 0;  // P(refer | x)
    bool drawn = false;
};

/// Returns w = pi(A|x) / p(A|x) for the drawn action. An action of logged probability 0 gives
/// infinity (or NaN): validate the decisions first.
double importance_weight(double candidate, double p_approve, bool approved,
                         const ReferralDraw& refer = {});

/// Tests whether approvals were drawn with the logged probabilities. Takes one record at a time;
/// not thread safe.
class CalibrationTest {
  public:
    void add(double p_approve, bool approved);

    /// Returns sum(A - p) / sqrt(sum p (1 - p)): about N(0, 1) if they were. Decisions with p = 0
    /// or 1 count only if the action contradicts p: then infinite. 0 if no decision was random.
    double z() const;
    /// Squares the same statistic in each tenth of [0, 1] of p with sum p (1 - p) >= 5 (the other
    /// tenths are pooled), sums to a chi square, and transforms that to about N(0, 1) by the cube
    /// root of Wilson and Hilferty (1931): large if errors at some probabilities cancel those at
    /// others. 0 if no tenth has enough data.
    double decile_z() const;

  private:
    struct Tenth {
        stats::Sum excess, variance;
    };
    std::array<Tenth, 10> tenths_{};
};

/// Accumulates all of the above, one record at a time. A referral by rule (logged probability 1)
/// has no weight and is left out.
class WeightSums {
  public:
    void add(double candidate, double p_approve, bool approved, const ReferralDraw& refer = {});
    WeightDiagnostics diagnostics() const;

  private:
    size_t records_ = 0;
    stats::Sum sum_, squares_, from_one_squares_;
    double max_deviation_ = 0;
    CalibrationTest calibration_;
};

}  // namespace rampart::ope
