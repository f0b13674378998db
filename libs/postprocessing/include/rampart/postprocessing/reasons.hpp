#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::postprocessing {

#define RAMPART_POSTPROCESSING_REASONS(X)                                                       \
    X(kBadGroupTolerance, kInvalidArgument, "bad_group_tolerance",                              \
      "Write GROUP:NUMBER with a group of the data and a number from 0 to 1.")                  \
    X(kBlindCovariance, kInvalidArgument, "blind_covariance",                                   \
      "Take the criterion statistical_parity; it bounds the covariance as well.")               \
    X(kBlindWithin, kInvalidArgument, "blind_within",                                           \
      "Leave out either the group-blind rule or the attribute to compare within.")              \
    X(kEmptyStratum, kFailedPrecondition, "empty_stratum",                                      \
      "Leave the cut point out, pool the category, or say where missing values belong.")        \
    X(kGroupWithoutRows, kFailedPrecondition, "group_without_rows",                             \
      "Wait for more rows, hold more persons out, or leave the group out of the product.")      \
    X(kNoLabels, kInvalidArgument, "no_labels",                                                 \
      "Give rows with labels, or take a criterion and a calibration that need none.")           \
    X(kNoSuchMember, kInvalidArgument, "no_such_member",                                        \
      "Name a group, or a value of one attribute, that some and not all groups have.")          \
    X(kOperatingPointMissed, kFailedPrecondition, "operating_point_missed",                     \
      "Ask for a rate that the rule can keep, widen its tolerance, or change gamma.")           \
    X(kOtherScores, kInvalidArgument, "other_scores",                                           \
      "Give a score that rises with P(favourable), or take statistical_parity or covariance.")  \
    X(kSmallStratum, kFailedPrecondition, "small_stratum",                                      \
      "Take fewer cut points, pool categories, wait for more rows, or lower the least number.") \
    X(kUnknownPostprocessor, kInvalidArgument, "unknown_postprocessor",                         \
      "Take one of the named criteria.")
RAMPART_REASONS("postprocessing", RAMPART_POSTPROCESSING_REASONS)

}  // namespace rampart::postprocessing
