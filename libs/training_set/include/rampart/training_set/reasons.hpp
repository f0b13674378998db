#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::training_set {

#define RAMPART_TRAINING_SET_REASONS(X)                                                        \
    X(kBadSplitSalt, kInvalidArgument, "bad_split_salt",                                       \
      "Give a longer split salt, made of random characters.")                                  \
    X(kBadWeightCap, kOutOfRange, "bad_weight_cap", "Give a finite weight cap of at least 1.") \
    X(kNoTrainingRows, kFailedPrecondition, "no_training_rows",                                \
      "Wait for outcomes, and see from the message why decisions cannot be learnt from.")
RAMPART_REASONS("training_set", RAMPART_TRAINING_SET_REASONS)

}  // namespace rampart::training_set
