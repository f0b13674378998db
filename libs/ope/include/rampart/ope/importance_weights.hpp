#pragma once

#include <array>
#include <cstddef>

#include "rampart/stats/confidence_bound.hpp"

namespace rampart::ope {

/// What importance weights w = pi(A|x) / p(A|x) say about the log, without looking at any impact.
struct WeightDiagnostics {
    size_t records = 0;
    double mean_weight = 0;    // near 1 when the propensities are right and the candidate overlaps
    double mean_weight_z = 0;  // (mean - 1) / standard error; 0 when all weights are 1
    double effective_records = 0;     // (sum w)^2 / sum w^2
    double max_weight_deviation = 0;  // largest |w - 1|
    double calibration_z = 0;         // of the logged propensities, independent of the candidate
    double decile_z = 0;              // of the same, within tenths of the probability
};

/// w = pi(A|x) / p(A|x) for the action that was taken. An action that was logged as impossible
/// gives infinity (or NaN): check the decisions first.
double importance_weight(double candidate, double p_approve, bool approved);

/// Whether approvals were drawn with the probabilities that were logged. Records are given one
/// after the other; used by one thread at a time.
class CalibrationTest {
  public:
    void add(double p_approve, bool approved);

    /// sum(A - p) / sqrt(sum p (1 - p)): about N(0, 1) if they were. Records decided with certainty
    /// count only if they contradict it: then it is infinite. 0 when nothing was random.
    double z() const;
    /// The same sums squared, in each tenth of [0, 1] that p fell into with sum p (1 - p) >= 5 (the
    /// others pooled), added to a chi square, which Wilson and Hilferty's (1931) cube root brings
    /// to about N(0, 1): large when errors of some probabilities cancel those of others. 0 when no
    /// tenth has enough.
    double decile_z() const;

  private:
    struct Tenth {
        stats::Sum excess, variance;
    };
    std::array<Tenth, 10> tenths_{};
};

/// All of the above, a record at a time.
class WeightSums {
  public:
    void add(double candidate, double p_approve, bool approved);
    WeightDiagnostics diagnostics() const;

  private:
    size_t records_ = 0;
    stats::Sum sum_, squares_, from_one_squares_;
    double max_deviation_ = 0;
    CalibrationTest calibration_;
};

}  // namespace rampart::ope
