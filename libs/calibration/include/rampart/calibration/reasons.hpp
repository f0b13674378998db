#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::calibration {

#define RAMPART_CALIBRATION_REASONS(X)                                                 \
    X(kAbsentGroup, kFailedPrecondition, "absent_group",                               \
      "Leave the group out, or take another criterion.")                               \
    X(kBadCalibrationSetting, kOutOfRange, "bad_calibration_setting",                  \
      "Give the setting a value in the range that the message names.")                 \
    X(kBadRowCount, kOutOfRange, "bad_row_count",                                      \
      "Give at least one row and at most the number allowed.")                         \
    X(kEarlyStoppingOfPosteriors, kInvalidArgument, "early_stopping_of_posteriors",    \
      "Set early_stopping_rounds to 0 and choose the number of trees.")                \
    X(kNoGroups, kFailedPrecondition, "no_groups",                                     \
      "Name columns under `protected` in the schema, so that the rows are in groups.") \
    X(kOneLabel, kFailedPrecondition, "one_label",                                     \
      "Give rows with both labels, or with different targets.")                        \
    X(kUnknownCalibration, kInvalidArgument, "unknown_calibration",                    \
      "Use one of the methods of calibration that the message lists.")
RAMPART_REASONS("calibration", RAMPART_CALIBRATION_REASONS)

}  // namespace rampart::calibration
