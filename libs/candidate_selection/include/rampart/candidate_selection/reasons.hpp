#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::candidate_selection {

#define RAMPART_CANDIDATE_SELECTION_REASONS(X)                                                \
    X(kBadElf, kInvalidArgument, "bad_elf",                                                   \
      "Give columns of one length, probabilities and a kappa in the ranges that the message " \
      "names.")                                                                               \
    X(kBadObjective, kInvalidArgument, "bad_objective",                                       \
      "Give the setting a value in the range that the message names.")                        \
    X(kBadPolicy, kInvalidArgument, "bad_policy",                                             \
      "Give finite columns of one length, at least one row, and a ridge from 0 on.")          \
    X(kNoConvergence, kFailedPrecondition, "no_convergence",                                  \
      "Give a ridge above 0, or rows with both labels.")
RAMPART_REASONS("candidate_selection", RAMPART_CANDIDATE_SELECTION_REASONS)

}  // namespace rampart::candidate_selection
