#pragma once

#include <vector>

#include "rampart/ramp/solver.hpp"
#include "sorted_scores.hpp"

namespace rampart::ramp {

/// The rows of a problem, sorted, and what follows from them alone.
struct SortedRows {
    std::vector<SortedScores> groups;  // at least one
    std::vector<size_t> stratum;       // [groups]
    size_t strata = 1;
    double weight = 0;
    std::vector<double> share;     // [groups] of all rows
    std::vector<double> positive;  // [groups] mean of (f + 1) / 2

    SortedRows(std::vector<SortedScores> groups, std::vector<size_t> stratum);
};

/// solve_ramp with parameters that were checked.
base::Result<RampSolution> solve_sorted(const SortedRows& rows, const RampParams& params);

}  // namespace rampart::ramp
