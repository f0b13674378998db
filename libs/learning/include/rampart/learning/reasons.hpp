#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::learning {

#define RAMPART_LEARNING_REASONS(X)                                                             \
    X(kBadOption, kInvalidArgument, "bad_option",                                               \
      "Give the option a value of the type and range that the message names.")                  \
    X(kCannotResume, kInvalidArgument, "cannot_resume",                                         \
      "Go on from a model of the same learner and schema, with one ensemble.")                  \
    X(kCannotLearn, kInvalidArgument, "cannot_learn",                                           \
      "Take a learner that can do what the data and the recipe ask for.")                       \
    X(kNoProtectedAttributes, kInvalidArgument, "no_protected_attributes",                      \
      "Name the protected attributes that the learner's constraints or fair metric are about.") \
    X(kNoModelFound, kFailedPrecondition, "no_model_found",                                     \
      "Widen the bounds, or give the learner more calls.")                                      \
    X(kNothingApproved, kFailedPrecondition, "nothing_approved",                                \
      "Take a wider bound of `operate_at`, more rows, or a learner that ranks them better.")    \
    X(kProvenImpossible, kFailedPrecondition, "proven_impossible",                              \
      "Widen the bounds: no model of this learner keeps them.")                                 \
    X(kTrainingStopped, kUnavailable, "training_stopped", "Start the training again.")          \
    X(kUnknownLearner, kInvalidArgument, "unknown_learner", "Take one of the named learners.")  \
    X(kUnknownOption, kInvalidArgument, "unknown_option",                                       \
      "Take one of the options of the learner, which the message names.")
RAMPART_REASONS("learning", RAMPART_LEARNING_REASONS)

}  // namespace rampart::learning
