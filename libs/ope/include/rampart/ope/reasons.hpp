#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::ope {

#define RAMPART_OPE_REASONS(X)                                                              \
    X(kBadCentre, kInvalidArgument, "bad_centre",                                           \
      "Give each record finite centres inside the declared range, all or none as the "      \
      "settings say.")                                                                      \
    X(kBadGroup, kInvalidArgument, "bad_group",                                             \
      "Give groups unique names and ascending positions of records.")                       \
    X(kBadImpact, kInvalidArgument, "bad_impact",                                           \
      "Give a finite impact where it is known, and none where it is not.")                  \
    X(kBadLogger, kInvalidArgument, "bad_logger",                                           \
      "Number the logging policies below their count.")                                     \
    X(kBadOverridden, kInvalidArgument, "bad_overridden",                                   \
      "Give the positions of overridden records in ascending order.")                       \
    X(kBadRecordId, kInvalidArgument, "bad_record_id",                                      \
      "Give each record an id of the allowed length.")                                      \
    X(kBadRegressionData, kInvalidArgument, "bad_regression_data",                          \
      "Give actions of 0 or 1 and finite impacts, weights and features; scale large ones.") \
    X(kBadRidge, kInvalidArgument, "bad_ridge", "Give a ridge above 0, at most 1e6.")       \
    X(kBadShape, kInvalidArgument, "bad_shape",                                             \
      "Give every column one entry for each record, each person and each mean.")            \
    X(kBadUnitId, kInvalidArgument, "bad_unit_id",                                          \
      "Give each person an id of the allowed length.")                                      \
    X(kDuplicateRecord, kInvalidArgument, "duplicate_record",                               \
      "Keep one of the records with this id.")                                              \
    X(kImpactOutOfRange, kInvalidArgument, "impact_out_of_range",                           \
      "Clip the impact as the metric's definition says, or declare a wider range.")         \
    X(kTooFewRecords, kInvalidArgument, "too_few_records",                                  \
      "Wait for more records, or give a longer period.")                                    \
    X(kTooFewRows, kInvalidArgument, "too_few_rows",                                        \
      "Give at least two rows with an impact and a weight above 0.")                        \
    X(kTooManyRecords, kOutOfRange, "too_many_records",                                     \
      "Take a shorter period, so that fewer records are tested at once.")
RAMPART_REASONS("ope", RAMPART_OPE_REASONS)

}  // namespace rampart::ope
