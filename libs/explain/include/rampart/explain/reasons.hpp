#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::explain {

#define RAMPART_EXPLAIN_REASONS(X)                                                           \
    X(kBadReference, kInvalidArgument, "bad_reference",                                      \
      "Give reference rows of the model's width, finite or missing, with positive weights.") \
    X(kBadRepeats, kOutOfRange, "bad_repeats", "Give a number of repeats within the limit.") \
    X(kNoCover, kFailedPrecondition, "no_cover",                                             \
      "Explain the model against other rows (--interventional or --reference).")             \
    X(kNoSuchFeature, kOutOfRange, "no_such_feature",                                        \
      "Name a feature by a number below the number of features.")                            \
    X(kNotNumeric, kInvalidArgument, "not_numeric", "Ask for a curve of a numeric feature.") \
    X(kTooDeepToExplain, kOutOfRange, "too_deep_to_explain",                                 \
      "Explain the model against a reference set, or train shallower trees.")                \
    X(kTooManyPoints, kOutOfRange, "too_many_points",                                        \
      "Take a sample of the rows, or fewer points a curve.")                                 \
    X(kTooManyReferenceRows, kOutOfRange, "too_many_reference_rows",                         \
      "Take a sample of the reference rows.")                                                \
    X(kWrongWidth, kInvalidArgument, "wrong_width",                                          \
      "Read the data with the schema that the model was trained with.")
RAMPART_REASONS("explain", RAMPART_EXPLAIN_REASONS)

}  // namespace rampart::explain
