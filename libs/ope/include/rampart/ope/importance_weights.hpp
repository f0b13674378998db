#pragma once

#include <cstdint>
#include <span>

#include "rampart/ope/logged_feedback.hpp"

namespace rampart::ope {

/// What importance weights w = pi(A|x) / p(A|x) say about the log, without looking at any impact.
struct WeightDiagnostics {
    size_t records = 0;
    double mean_weight = 0;    // near 1 when the propensities are right and the candidate overlaps
    double mean_weight_z = 0;  // (mean - 1) / standard error; 0 when all weights are 1
    double effective_records = 0;     // (sum w)^2 / sum w^2
    double max_weight_deviation = 0;  // largest |w - 1|
    double calibration_z = 0;         // of the logged propensities, independent of the candidate
};

/// w = pi(A|x) / p(A|x) for the action that was taken. An action that was logged as impossible
/// gives infinity (or NaN): check the decisions first.
double importance_weight(double candidate, double p_approve, bool approved);

/// sum(A - p) / sqrt(sum p (1 - p)): about N(0, 1) when approvals were drawn with the probabilities
/// that were logged. Records decided with certainty count only if they contradict it: then it is
/// infinite. 0 when nothing was random.
double calibration_z(const LoggedDecisions& decisions, std::span<const uint32_t> records);

/// All of the above over `records` (positions).
WeightDiagnostics diagnose(const LoggedDecisions& decisions, std::span<const uint32_t> records);

}  // namespace rampart::ope
