#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::fair_regression {

#define RAMPART_FAIR_REGRESSION_REASONS(X)                                                  \
    X(kBadAnswer, kInvalidArgument, "bad_answer",                                           \
      "Make the oracle score all rows with finite numbers.")                                \
    X(kBadBoundedLossParameter, kOutOfRange, "bad_bounded_loss_parameter",                  \
      "Give one finite bound of at least 0, or one for each group.")                        \
    X(kBadGameParameter, kOutOfRange, "bad_game_parameter",                                 \
      "Give the parameter a value in the range that the message names.")                    \
    X(kBadGroups, kOutOfRange, "bad_groups",                                                \
      "Give at least two groups to keep apart, at most the number allowed.")                \
    X(kBadLevels, kOutOfRange, "bad_levels", "Give a number of levels within the limit.")   \
    X(kBadLinearParameter, kOutOfRange, "bad_linear_parameter",                             \
      "Give a ridge of 1e-9 to 1e6 and 1 to 1000 iterations.")                              \
    X(kBadLossParameter, kOutOfRange, "bad_loss_parameter",                                 \
      "Give the loss a parameter in the range that the message names.")                     \
    X(kBadLossValue, kInvalidArgument, "bad_loss_value",                                    \
      "Use a loss that is finite on the unit square.")                                      \
    X(kBadParityParameter, kOutOfRange, "bad_parity_parameter",                             \
      "Give one epsilon between 0 and 1, or one for each group, and settings in the named " \
      "ranges.")                                                                            \
    X(kNoLoss, kInvalidArgument, "no_loss", "Give the loss a function.")                    \
    X(kNotConvex, kInvalidArgument, "not_convex", "Declare convex = false for this loss.")  \
    X(kNotFitted, kInternal, "not_fitted", "Scale the features, or raise the ridge.")       \
    X(kNotInfeasible, kFailedPrecondition, "not_infeasible",                                \
      "Give multipliers from 0 on, one for each group, of sum 1, with an excess of loss "   \
      "above 0.")                                                                           \
    X(kNotLipschitz, kInvalidArgument, "not_lipschitz",                                     \
      "Declare a larger Lipschitz constant, or scale the loss.")                            \
    X(kNotServed, kInvalidArgument, "not_served",                                           \
      "Use trees or linear models where the result has to be served.")
RAMPART_REASONS("fair_regression", RAMPART_FAIR_REGRESSION_REASONS)

}  // namespace rampart::fair_regression
