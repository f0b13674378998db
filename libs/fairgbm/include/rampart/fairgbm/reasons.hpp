#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::fairgbm {

#define RAMPART_FAIRGBM_REASONS(X)                                                                 \
    X(kBadMinGainShare, kOutOfRange, "bad_min_gain_share", "Give a share between 0 and 1.")        \
    X(kBadMultiplierAim, kOutOfRange, "bad_multiplier_aim", "Give an aim between 0 and 1.")        \
    X(kBadMultiplierCap, kOutOfRange, "bad_multiplier_cap", "Give a cap above 0, at most 1e6.")    \
    X(kBadMultiplierDamping, kOutOfRange, "bad_multiplier_damping",                                \
      "Give a damping between 0 and 1e6.")                                                         \
    X(kBadMultiplierStep, kOutOfRange, "bad_multiplier_step", "Give a step above 0, at most 1e6.") \
    X(kBadProxyMargin, kOutOfRange, "bad_proxy_margin", "Give a margin above 0, at most 100.")     \
    X(kIncompleteResumeState, kInvalidArgument, "incomplete_resume_state",                         \
      "Give both the trees and the multipliers of the run to go on from.")                         \
    X(kNotAsPrinted, kInvalidArgument, "not_as_printed",                                           \
      "Leave paper_compat off to constrain statistical_parity.")                                   \
    X(kOtherMultipliers, kInvalidArgument, "other_multipliers",                                    \
      "Go on with the constraints and groups of the saved run.")                                   \
    X(kOtherValidationSchema, kInvalidArgument, "other_validation_schema",                         \
      "Split one table into training and validation rows.")                                        \
    X(kUnknownOutput, kInvalidArgument, "unknown_output",                                          \
      "Use one of the outputs that the message lists.")                                            \
    X(kUnknownProxy, kInvalidArgument, "unknown_proxy",                                            \
      "Use one of the proxies that the message lists.")
RAMPART_REASONS("fairgbm", RAMPART_FAIRGBM_REASONS)

}  // namespace rampart::fairgbm
