#pragma once

#include <cstddef>

#include "rampart/joiner/outcome_joiner.hpp"

namespace rampart::outcome_joiner {

/// Reads the log to its end and applies it. failed_precondition "partition_stopped": a partition can't be read
/// on from where it stopped; what is wrong with it stands in the message. Returns the records read.
base::Result<size_t> catch_up(joiner::OutcomeJoiner& joiner);

}  // namespace rampart::outcome_joiner
