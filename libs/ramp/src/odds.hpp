#pragma once

#include <optional>
#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/stats/metrics.hpp"
#include "sorted_scores.hpp"

namespace rampart::ramp {

/// Equalized odds: approval among the favourable and among the others, with eta = (f + 1)/2 the
/// probability of being one of the former, each within half[k] of its stratum's centre.
struct OddsQuestion {
    double gamma = 0.1, offset = 0.5;  // gamma > 0
    std::vector<double> positive;      // [groups] mean of eta, in (0, 1)
    std::vector<size_t> stratum;       // [groups] 0 … strata-1, none without groups
    size_t strata = 1;
    std::vector<double> half;                                // [groups] >= 0
    std::optional<double> positive_centre, negative_centre;  // nullopt: the best, by stratum
    stats::Interval overall{0, 1};
    double price = 0;
};

struct OddsAnswer {
    std::vector<Ramp> ramps;                                 // [groups], each of its own slope
    std::vector<double> positive_centres, negative_centres;  // [strata]
    double dual = 0;
};

/// By DualNewton. Both rates are linear in sums over scores, since the pull of a row is linear in
/// f: a step costs O(log n) a group.
base::Result<OddsAnswer> solve_odds_ramps(std::span<const SortedScores> groups,
                                          const OddsQuestion& question);

}  // namespace rampart::ramp
