#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::budro {

#define RAMPART_BUDRO_REASONS(X)                                                           \
    X(kBadAnswer, kOutOfRange, "bad_answer",                                               \
      "Make the model answer with probabilities in [0, 1].")                               \
    X(kBadApproval, kOutOfRange, "bad_approval",                                           \
      "Give each copy of a row a probability of approval in [0, 1].")                      \
    X(kBadAuditParameter, kOutOfRange, "bad_audit_parameter",                              \
      "Use the method and the limits that the message names.")                             \
    X(kBadBudroParameter, kOutOfRange, "bad_budro_parameter",                              \
      "Give the parameter a value in the range that the message names.")                   \
    X(kBadCoordinate, kInvalidArgument, "bad_coordinate",                                  \
      "Fill in what is missing and standardise the columns before measuring distances.")   \
    X(kBadCounterfactual, kInvalidArgument, "bad_counterfactual",                          \
      "Write FEATURE=VALUE,VALUE or FEATURE*FEATURE, with features of the schema and few " \
      "copies.")                                                                           \
    X(kBadL2, kOutOfRange, "bad_l2", "Give an l2 of 1e-9 to 1e6.")                         \
    X(kBadLoss, kOutOfRange, "bad_loss", "Keep probabilities away from 0 and 1.")          \
    X(kBadPair, kInvalidArgument, "bad_pair",                                              \
      "Name pairs of rows of the table that differ in something that counts.")             \
    X(kBadTransportParameter, kOutOfRange, "bad_transport_parameter",                      \
      "Give the parameter a value in the range that the message names.")                   \
    X(kBadWeight, kOutOfRange, "bad_weight",                                               \
      "Give the feature a weight from 0 to 1e6; 0 leaves it out.")                         \
    X(kMemoryBudget, kResourceExhausted, "memory_budget",                                  \
      "Raise the memory budget, or take fewer people.")                                    \
    X(kMetricFileTooLarge, kOutOfRange, "metric_file_too_large",                           \
      "Learn the fair metric on fewer columns.")                                           \
    X(kNoColumns, kInvalidArgument, "no_columns",                                          \
      "Leave at least one feature in the fair metric.")                                    \
    X(kNotConverged, kInternal, "not_converged", "Raise the l2 that the message names.")   \
    X(kNothingKnown, kInvalidArgument, "nothing_known",                                    \
      "Leave the protected attribute out, or give its values for more rows.")              \
    X(kOneGroup, kInvalidArgument, "one_group",                                            \
      "Leave the protected attribute out: its training rows are of one group.")            \
    X(kOneKindOfPairs, kInvalidArgument, "one_kind_of_pairs",                              \
      "Give both comparable and incomparable pairs.")                                      \
    X(kTooManyPairs, kOutOfRange, "too_many_pairs", "Give fewer pairs.")                   \
    X(kUnknownCategory, kNotFound, "unknown_category",                                     \
      "Use a category that the schema lists, or add it to the feature's categories.")      \
    X(kUnknownColumn, kNotFound, "unknown_column",                                         \
      "Write the direction with a numeric feature's name, or FEATURE=CATEGORY.")           \
    X(kUnknownFeature, kNotFound, "unknown_feature",                                       \
      "Use a feature of the schema, leave it out, or add it to the schema.")               \
    X(kUnknownFirstTree, kInvalidArgument, "unknown_first_tree",                           \
      "Use one of the first trees that the message lists.")                                \
    X(kUnknownMetricVersion, kInvalidArgument, "unknown_metric_version",                   \
      "Read the metric with the release that wrote it, or learn it again.")                \
    X(kUnknownSelection, kInvalidArgument, "unknown_selection",                            \
      "Use one of the selections that the message lists.")                                 \
    X(kUnknownTransportMethod, kInvalidArgument, "unknown_transport_method",               \
      "Use one of the methods that the message lists.")                                    \
    X(kUnpredictable, kInvalidArgument, "unpredictable",                                   \
      "Leave the direction out: the features tell nothing of it.")                         \
    X(kWrongSize, kInvalidArgument, "wrong_size",                                          \
      "Give one value of the attribute for each row, and one name for each group.")
RAMPART_REASONS("budro", RAMPART_BUDRO_REASONS)

}  // namespace rampart::budro
