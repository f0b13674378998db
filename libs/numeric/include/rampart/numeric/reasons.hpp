#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::numeric {

#define RAMPART_NUMERIC_REASONS(X)                                                  \
    X(kBadLinearProgram, kInvalidArgument, "bad_linear_program",                    \
      "Give finite coefficients, and bounds with the lower end first.")             \
    X(kBadSearch, kInvalidArgument, "bad_search",                                   \
      "Give a box, scales and starting points that fit the number of coordinates.") \
    X(kSimplexFailed, kInternal, "simplex_failed",                                  \
      "Scale the data or loosen the constraints; report the case if it stays.")
RAMPART_REASONS("numeric", RAMPART_NUMERIC_REASONS)

}  // namespace rampart::numeric
