#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::decision {

#define RAMPART_DECISION_REASONS(X)                                                                \
    X(kBadReferenceRow, kInvalidArgument, "bad_reference_row",                                     \
      "Train the policy again; its reference row needs one number or nan for each feature.")       \
    X(kBadRow, kInvalidArgument, "bad_row",                                                        \
      "Encode the application with the policy's schema, one value for each feature.")              \
    X(kForeignDraw, kDataLoss, "foreign_draw",                                                     \
      "Find out who wrote the decision; drop it from the quarantine if no node of yours did.")     \
    X(kGroupUnknown, kFailedPrecondition, "group_unknown", "Say which group the applicant is in.") \
    X(kMissingFeature, kInvalidArgument, "missing_feature",                                        \
      "Send every feature of the schema; null stands for a value that is not known.")              \
    X(kNotExplained, kFailedPrecondition, "not_explained",                                         \
      "Bring a model with `rampart candidate`, which gives it a reference row; train one whose "   \
      "score depends on the features, and whose rule follows the score in every group (a larger "  \
      "tolerance, another criterion).")                                                            \
    X(kOtherAssignment, kFailedPrecondition, "other_assignment",                                   \
      "Give the assignment of arms that the decision names.")                                      \
    X(kReplayMismatch, kDataLoss, "replay_mismatch",                                               \
      "Restore the log from a copy, and find out who changed the decision.")                       \
    X(kUncertifiedPolicy, kFailedPrecondition, "uncertified_policy",                               \
      "Let the gate certify the policy first.")
RAMPART_REASONS("decision", RAMPART_DECISION_REASONS)

}  // namespace rampart::decision
