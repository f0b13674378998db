#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rampart/stats/metrics.hpp"
#include "rate_curve.hpp"
#include "sorted_scores.hpp"

namespace rampart::ramp {

/// One rate a group (RateMoment) within half[k] of its stratum's centre, and the overall approval
/// rate in a range.
struct ParityQuestion {
    double gamma = 0, offset = 0.5;
    std::vector<RateMoment> z;    // [groups]
    std::vector<size_t> stratum;  // [groups] 0 … strata-1, none without groups
    size_t strata = 1;
    std::vector<double> half;      // [groups] >= 0
    std::optional<double> centre;  // centre of every stratum; nullopt: each has the best one
    stats::Interval overall{0, 1};
    double price = 0;  // shift of all rows where the overall range does not bind
};

struct ParityAnswer {
    std::vector<Ramp> ramps;      // [groups]
    std::vector<double> centres;  // [strata]
    double dual = 0;              // a lower bound on every feasible rule's objective
};

/// nullopt: no rule meets the overall range (only possible with a fixed centre).
std::optional<ParityAnswer> solve_parity_ramps(std::span<const SortedScores> groups,
                                               const ParityQuestion& question);

}  // namespace rampart::ramp
