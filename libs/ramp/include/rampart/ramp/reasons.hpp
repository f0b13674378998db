#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::ramp {

#define RAMPART_RAMP_REASONS(X)                                                              \
    X(kBadCovariance, kInvalidArgument, "bad_covariance",                                    \
      "Constrain the covariance with one epsilon only, for an attribute of two values.")     \
    X(kBadCriterion, kInvalidArgument, "bad_criterion",                                      \
      "Ask a group-blind ramp for statistical_parity, equal_opportunity or equalized_odds.") \
    X(kBadEpsilon, kOutOfRange, "bad_epsilon", "Give an epsilon between 0 and 1.")           \
    X(kBadGamma, kOutOfRange, "bad_gamma",                                                   \
      "Give a gamma in [1e-6, 100]; where thresholds are allowed, 0 makes them.")            \
    X(kBadGammaCount, kOutOfRange, "bad_gamma_count", "Give 1 to 64 gammas to choose from.") \
    X(kBadOverall, kOutOfRange, "bad_overall",                                               \
      "Give a range of the overall rate within [0, 1], the lower end first.")                \
    X(kBadPosterior, kInvalidArgument, "bad_posterior",                                      \
      "Give each row probabilities of its groups that add up to 1, in the form that the "    \
      "criterion needs.")                                                                    \
    X(kBadPrice, kOutOfRange, "bad_price", "Give a price between -1 and 1.")                 \
    X(kBadRho, kOutOfRange, "bad_rho",                                                       \
      "Give a rho in [0, 1]; rho_negative is for equalized odds.")                           \
    X(kBadStratum, kOutOfRange, "bad_stratum",                                               \
      "Number the strata from 0 on, with a group in each.")                                  \
    X(kInfeasibleOverall, kInvalidArgument, "infeasible_overall",                            \
      "Widen the range of the overall rate, raise epsilon, or leave rho free.")              \
    X(kNoNegatives, kInvalidArgument, "no_negatives",                                        \
      "Give scores below 1 to some rows of the group, or leave the group out.")              \
    X(kNoPositives, kInvalidArgument, "no_positives",                                        \
      "Give scores above -1 to some rows of the group, or leave the group out.")             \
    X(kRampNotSolved, kInternal, "ramp_not_solved",                                          \
      "Widen the constraints or allow more iterations; report the case if it stays.")
RAMPART_REASONS("ramp", RAMPART_RAMP_REASONS)

}  // namespace rampart::ramp
