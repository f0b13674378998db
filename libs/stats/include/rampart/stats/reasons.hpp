#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::stats {

#define RAMPART_STATS_REASONS(X)                                                            \
    X(kBadBand, kInvalidArgument, "bad_band",                                               \
      "Give at least one point, and as many lower and upper bounds that do not contradict " \
      "each other.")                                                                        \
    X(kBadBets, kInvalidArgument, "bad_bets",                                               \
      "Give bets with positive multiples and with positive weights that sum to 1.")         \
    X(kBadDelta, kInvalidArgument, "bad_delta",                                             \
      "Give a delta in the range that the message names.")                                  \
    X(kBadPlan, kInvalidArgument, "bad_plan",                                               \
      "Plan for at least 2 values, with a positive variance and a negative smallest value.")
RAMPART_REASONS("stats", RAMPART_STATS_REASONS)

}  // namespace rampart::stats
