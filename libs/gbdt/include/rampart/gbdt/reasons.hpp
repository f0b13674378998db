#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::gbdt {

#define RAMPART_GBDT_REASONS(X)                                                                 \
    X(kBadDelta, kOutOfRange, "bad_delta", "Give a delta in the range that the message names.") \
    X(kBadGradient, kInternal, "bad_gradient",                                                  \
      "Keep targets and scores finite and moderate; report the case if they are.")              \
    X(kBadInitialScore, kInternal, "bad_initial_score",                                         \
      "Keep targets finite and moderate; report the case if they are.")                         \
    X(kBadInteractions, kInvalidArgument, "bad_interactions",                                   \
      "Name features of the schema, and at least one in each set.")                             \
    X(kBadLearnerParameter, kOutOfRange, "bad_learner_parameter",                               \
      "Give the parameter a value in the range that the message names.")                        \
    X(kBadMonotone, kInvalidArgument, "bad_monotone",                                           \
      "Give an increasing or decreasing direction to numeric features only, one entry for "     \
      "each feature.")                                                                          \
    X(kBadTarget, kOutOfRange, "bad_target", "Give targets in the range that the loss allows.") \
    X(kBadVariancePower, kOutOfRange, "bad_variance_power",                                     \
      "Give a variance power in the range that the message names.")                             \
    X(kNoValidationSet, kInvalidArgument, "no_validation_set",                                  \
      "Give validation rows, or set early_stopping_rounds to 0.")                               \
    X(kNothingToTrain, kInvalidArgument, "nothing_to_train",                                    \
      "Ask for more trees than the model to continue from has.")                                \
    X(kOtherBins, kInvalidArgument, "other_bins",                                               \
      "Make the bins of this training set with these max_bins.")
RAMPART_REASONS("gbdt", RAMPART_GBDT_REASONS)

}  // namespace rampart::gbdt
