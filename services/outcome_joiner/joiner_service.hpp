#pragma once

#include <vector>

#include "rampart/joiner/outcome_joiner.hpp"

namespace rampart::outcome_joiner {

struct CaughtUp {
    size_t records = 0;
    std::vector<joiner::StoppedPartition> stopped;  // each source once; the others are at their end
};

/// Reads the log to its end, as far as it can be read.
base::Result<CaughtUp> catch_up(joiner::OutcomeJoiner& joiner);

/// An error if anything stopped, naming the first and how many: what is missing must not pass for
/// what never happened.
base::Status nothing_stopped(const std::vector<joiner::StoppedPartition>& stopped);

}  // namespace rampart::outcome_joiner
