#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::tuning {

#define RAMPART_TUNING_REASONS(X)                                                                \
    X(kBadTrials, kDataLoss, "bad_trials", "Remove what is kept of the search; it begins anew.") \
    X(kNoRange, kInvalidArgument, "no_range",                                                    \
      "Name options and their ranges in [search.ranges], or leave out [search].")                \
    X(kNoTrial, kFailedPrecondition, "no_trial",                                                 \
      "Narrow [search.ranges] to settings that the data allow, give fewer folds, or leave out "  \
      "[search].")                                                                               \
    X(kOtherSearch, kFailedPrecondition, "other_search",                                         \
      "Remove the file of trials, name another one, or take the recipe and data that it is of.")
RAMPART_REASONS("tuning", RAMPART_TUNING_REASONS)

}  // namespace rampart::tuning
