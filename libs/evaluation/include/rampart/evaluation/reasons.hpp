#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::evaluation {

#define RAMPART_EVALUATION_REASONS(X)                                                        \
    X(kEmptyPart, kFailedPrecondition, "empty_part",                                         \
      "Choose another part of the split, or --split all.")                                   \
    X(kLinearMember, kFailedPrecondition, "linear_member",                                   \
      "Read the terms of the linear model with `rampart inspect model --json`.")             \
    X(kNoSchema, kInvalidArgument, "no_schema",                                              \
      "Name the schema with --schema, so that the label is known.")                          \
    X(kNoSplit, kFailedPrecondition, "no_split", "Take all rows with --split all.")          \
    X(kNoSuchLink, kOutOfRange, "no_such_link", "Give --link a number that the policy has.") \
    X(kNothingLearned, kFailedPrecondition, "nothing_learned",                               \
      "Explain a learned model: a declared rule has no trees.")                              \
    X(kOtherData, kFailedPrecondition, "other_data",                                         \
      "Give the table that the model was trained on, or take all rows with --split all.")    \
    X(kOtherFeatures, kInvalidArgument, "other_features",                                    \
      "Give the schema that the model was trained with.")
RAMPART_REASONS("evaluation", RAMPART_EVALUATION_REASONS)

}  // namespace rampart::evaluation
