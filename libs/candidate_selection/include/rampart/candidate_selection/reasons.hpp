#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::candidate_selection {

#define RAMPART_CANDIDATE_SELECTION_REASONS(X)          \
    X(kBadObjective, kInvalidArgument, "bad_objective", \
      "Give the setting a value in the range that the message names.")
RAMPART_REASONS("candidate_selection", RAMPART_CANDIDATE_SELECTION_REASONS)

}  // namespace rampart::candidate_selection
