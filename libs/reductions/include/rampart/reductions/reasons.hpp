#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::reductions {

#define RAMPART_REDUCTIONS_REASONS(X)                                                    \
    X(kBadCells, kInvalidArgument, "bad_cells",                                          \
      "Give one cell for each row and finite slopes at every node, as many as the task " \
      "says.")                                                                           \
    X(kBadOracle, kInternal, "bad_oracle",                                               \
      "Make the oracle give a model of trees that scores every row.")                    \
    X(kBadParameter, kOutOfRange, "bad_parameter",                                       \
      "Give an order between 0 and 1, or a width above 0.")                              \
    X(kBadReductionParameter, kOutOfRange, "bad_reduction_parameter",                    \
      "Give the parameter a value in the range that the message names.")                 \
    X(kEarlyStoppingOfReductions, kInvalidArgument, "early_stopping_of_reductions",      \
      "Set early_stopping_rounds to 0 and choose the number of trees.")                  \
    X(kNoMixture, kInternal, "no_mixture",                                               \
      "Loosen the constraints or allow more rounds; report the case if it stays.")       \
    X(kOperatingPointOfEg, kInvalidArgument, "operating_point_of_eg",                    \
      "Constrain the rate as a target instead of an operating point.")                   \
    X(kUnknownReduction, kInvalidArgument, "unknown_reduction",                          \
      "Use one of the reductions that the message lists.")
RAMPART_REASONS("reductions", RAMPART_REDUCTIONS_REASONS)

}  // namespace rampart::reductions
