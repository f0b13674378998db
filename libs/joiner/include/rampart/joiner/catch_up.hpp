#pragma once

#include <functional>
#include <vector>

#include "rampart/joiner/outcome_joiner.hpp"

namespace rampart::joiner {

struct CaughtUp {
    size_t records = 0;
    std::vector<joiner::StoppedPartition> stopped;  // each source once; the others are read
};

/// Reads the log, as far as it can be read, to where its sources end at the call. What is appended
/// meanwhile is left to the next call, so that this one returns however much it is. `stopping` is
/// asked after every few thousand records; true: unavailable "reading_interrupted", and the next
/// call goes on.
base::Result<CaughtUp> catch_up(joiner::OutcomeJoiner& joiner,
                                const std::function<bool()>& stopping = {});

/// An error if anything stopped, naming the first and how many: what is missing must not pass for
/// what never happened.
base::Status nothing_stopped(const std::vector<joiner::StoppedPartition>& stopped);

}  // namespace rampart::joiner
