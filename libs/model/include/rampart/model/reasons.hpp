#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::model {

#define RAMPART_MODEL_REASONS(X)                                                                   \
    X(kBadBaseScore, kOutOfRange, "bad_base_score", "Give a base score of the allowed magnitude.") \
    X(kBadCategorySet, kInvalidArgument, "bad_category_set",                                       \
      "Make the set of categories ascending, without repeats and within the feature's "            \
      "categories.")                                                                               \
    X(kBadChainLength, kOutOfRange, "bad_chain_length",                                            \
      "Chain at least one link and at most the number allowed.")                                   \
    X(kBadLinearModel, kInvalidArgument, "bad_linear_model",                                       \
      "Give one finite coefficient for each encoded column of the schema.")                        \
    X(kBadMetricFile, kDataLoss, "bad_metric_file",                                                \
      "Learn the fair metric again, or restore its file from a copy.")                             \
    X(kBadModelFile, kDataLoss, "bad_model_file",                                                  \
      "Restore the model's file from a copy; it is damaged or no model.")                          \
    X(kBadMultipliers, kDataLoss, "bad_multipliers",                                               \
      "Train the model again from the start; these multipliers cannot be resumed.")                \
    X(kBadNode, kInvalidArgument, "bad_node",                                                      \
      "Make the tree's nodes refer to later nodes and to features that exist.")                    \
    X(kBadPolicy, kInvalidArgument, "bad_policy",                                                  \
      "Correct the part of the policy that the message names, and write the file again.")          \
    X(kBadReasonMethod, kDataLoss, "bad_reason_method",                                            \
      "Train the model again: the method of its reason codes is unknown here.")                    \
    X(kBadReferenceRow, kDataLoss, "bad_reference_row",                                            \
      "Train the policy again; its reference row needs one number or nan for each feature.")       \
    X(kBadRegressionLoss, kDataLoss, "bad_regression_loss",                                        \
      "Restore the model file from a copy, or train it again with a loss that Rampart "            \
      "names.")                                                                                    \
    X(kBadScoreThreshold, kOutOfRange, "bad_score_threshold",                                      \
      "Give a threshold inside the range of the scores.")                                          \
    X(kBadTrainingRecord, kDataLoss, "bad_training_record",                                        \
      "Restore the model file from a copy, or train the model again.")                             \
    X(kBadTreeSize, kOutOfRange, "bad_tree_size", "Grow trees of fewer nodes.")                    \
    X(kModelFileTooLarge, kOutOfRange, "model_file_too_large",                                     \
      "Train a model of fewer or smaller trees.")                                                  \
    X(kTooManyMembers, kOutOfRange, "too_many_members", "Mix fewer models.")                       \
    X(kTooManyTrees, kOutOfRange, "too_many_trees", "Use fewer trees.")                            \
    X(kUnknownCategory, kOutOfRange, "unknown_category",                                           \
      "Use a category that the schema lists, or add it to the feature's categories.")              \
    X(kUnknownModelVersion, kInvalidArgument, "unknown_model_version",                             \
      "Read the file with the release that wrote it, or a later one.")                             \
    X(kWrongSplitKind, kInvalidArgument, "wrong_split_kind",                                       \
      "Make the feature numeric or categorical in the schema as the model's splits are.")
RAMPART_REASONS("model", RAMPART_MODEL_REASONS)

}  // namespace rampart::model
