#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::monitoring {

#define RAMPART_MONITORING_REASONS(X)                                                    \
    X(kBadFloor, kInvalidArgument, "bad_floor",                                          \
      "Give a floor inside the range that the message names.")                           \
    X(kBadMargin, kInvalidArgument, "bad_margin", "Give a finite margin of at least 0.") \
    X(kBadMinUnits, kInvalidArgument, "bad_min_units", "Give min_units of at least 1.")  \
    X(kTooFewRows, kFailedPrecondition, "too_few_rows",                                  \
      "Take longer periods, so that each has enough persons.")                           \
    X(kTwoReferences, kInvalidArgument, "two_references",                                \
      "Name one group of each attribute as its reference.")
RAMPART_REASONS("monitoring", RAMPART_MONITORING_REASONS)

}  // namespace rampart::monitoring
