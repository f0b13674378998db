#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::domain {

#define RAMPART_DOMAIN_REASONS(X)                                                                \
    X(kApplicationTooLarge, kOutOfRange, "application_too_large",                                \
      "Send fewer or shorter features.")                                                         \
    X(kBadArm, kInvalidArgument, "bad_arm",                                                      \
      "Log the arm that the assignment's shares give for the draw.")                             \
    X(kBadAssignment, kInvalidArgument, "bad_assignment",                                        \
      "Declare 2 to 16 arms of different policies, the champion's first, with shares that "      \
      "sum to 1.")                                                                               \
    X(kBadDraw, kInvalidArgument, "bad_draw",                                                    \
      "Log the draw, its window and the probabilities from which the action follows.")           \
    X(kBadFeatureValue, kOutOfRange, "bad_feature_value",                                        \
      "Give a finite number or a short UTF-8 text; leave the feature out or give null if it "    \
      "is not known.")                                                                           \
    X(kBadGrace, kOutOfRange, "bad_grace", "Give the measure a grace of 0 months or more.")      \
    X(kBadHorizon, kOutOfRange, "bad_horizon", "Give the measure a horizon of 1 to 600 months.") \
    X(kBadId, kInvalidArgument, "bad_id",                                                        \
      "Give an id of printable ASCII characters without space, '/' and '\\', as short as "       \
      "the message says.")                                                                       \
    X(kBadIdLength, kOutOfRange, "bad_id",                                                       \
      "Give an id of printable ASCII characters without space, '/' and '\\', as short as "       \
      "the message says.")                                                                       \
    X(kBadOutcomeValue, kInvalidArgument, "bad_outcome_value",                                   \
      "Report the outcome as a finite number.")                                                  \
    X(kBadReason, kInvalidArgument, "bad_reason",                                                \
      "Give each reason a UTF-8 text of the allowed length.")                                    \
    X(kCensoredWithValue, kInvalidArgument, "censored_with_value",                               \
      "Leave the value out of a censored outcome, or report it as not censored.")                \
    X(kDuplicateMeasure, kInvalidArgument, "duplicate_measure", "Declare every measure once.")   \
    X(kImpactOutsideRange, kOutOfRange, "impact_outside_range",                                  \
      "Widen the declared range of the impact, or correct the values that leave it.")            \
    X(kOutcomeOutsideRange, kOutOfRange, "outcome_outside_range",                                \
      "Report a value inside the declared range, or widen the range of the measure.")            \
    X(kOverrideRefers, kInvalidArgument, "override_refers",                                      \
      "Report what people decided in the end: approve or decline.")                              \
    X(kTooManyFeatures, kOutOfRange, "too_many_features",                                        \
      "Send only the features that the schema lists.")                                           \
    X(kTooManyReasons, kOutOfRange, "too_many_reasons", "Give fewer reasons for the decision.")  \
    X(kUnknownMeasure, kInvalidArgument, "unknown_measure",                                      \
      "Use a measure that the product declares, or declare it.")
RAMPART_REASONS("domain", RAMPART_DOMAIN_REASONS)

}  // namespace rampart::domain
