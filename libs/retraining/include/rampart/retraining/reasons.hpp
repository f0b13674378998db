#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::retraining {

#define RAMPART_RETRAINING_REASONS(X)                                                           \
    X(kBadRunRecord, kDataLoss, "bad_run_record", "Restore the trainer's store from a backup.") \
    X(kBeforePromotion, kFailedPrecondition, "before_promotion",                                \
      "Give a time after the present champion's promotion.")                                    \
    X(kNoCandidate, kFailedPrecondition, "no_candidate",                                        \
      "Widen the constraints of a recipe, or add one that can learn from the data.")            \
    X(kNoEvidence, kDataLoss, "no_evidence",                                                    \
      "Restore the certificate's evidence from a copy, or name its file with --evidence.")      \
    X(kNoRecipe, kInvalidArgument, "no_recipe", "Give the settings at least one recipe.")       \
    X(kNotKnownYet, kInvalidArgument, "not_known_yet",                                          \
      "Give a time up to which the store has read its log, or leave it out.")                   \
    X(kReservedName, kInvalidArgument, "reserved_name",                                         \
      "Give the name of the person who proposes the candidate.")                                \
    X(kTooFewExamples, kFailedPrecondition, "too_few_examples",                                 \
      "Wait until more outcomes have matured, or lower the number of examples wanted.")         \
    X(kWindowTooShort, kInvalidArgument, "window_too_short",                                    \
      "Make the window longer than the horizon of the product's label.")
RAMPART_REASONS("retraining", RAMPART_RETRAINING_REASONS)

}  // namespace rampart::retraining
