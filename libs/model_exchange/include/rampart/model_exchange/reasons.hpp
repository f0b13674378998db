#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::model_exchange {

#define RAMPART_MODEL_EXCHANGE_REASONS(X)                                                          \
    X(kAmbiguousFeatureName, kInvalidArgument, "ambiguous_feature_name",                           \
      "Rename one of the features that the model's name matches.")                                 \
    X(kBadModel, kInvalidArgument, "bad_model",                                                    \
      "Save the model again with its own library; the message names what does not hold.")          \
    X(kBadThreshold, kOutOfRange, "bad_threshold",                                                 \
      "Train the foreign model on a feature of smaller magnitude.")                                \
    X(kBadUbjson, kInvalidArgument, "bad_ubjson",                                                  \
      "Copy the file again, or save the model as .json; the message names the byte.")              \
    X(kNotALightgbmModel, kInvalidArgument, "not_a_lightgbm_model",                                \
      "Give a text model, as Booster.save_model of LightGBM writes it.")                           \
    X(kNotAnXgboostModel, kInvalidArgument, "not_an_xgboost_model",                                \
      "Give a model, as Booster.save_model of XGBoost writes it to .json or .ubj.")                \
    X(kScoreTooLarge, kOutOfRange, "score_too_large",                                              \
      "Train with a smaller base score or leaf values.")                                           \
    X(kTooManyLeaves, kOutOfRange, "too_many_leaves", "Grow trees of fewer leaves.")               \
    X(kTooManyNodes, kOutOfRange, "too_many_nodes", "Grow fewer trees, or merge rare categories.") \
    X(kUnsupportedModel, kInvalidArgument, "unsupported_model",                                    \
      "Train the foreign model without the feature that the message names.")                       \
    X(kUnsupportedName, kInvalidArgument, "unsupported_name",                                      \
      "Rename the feature: LightGBM does not allow such characters.")                              \
    X(kWrongFeatureCount, kInvalidArgument, "wrong_feature_count",                                 \
      "Give the schema the model's features, in the model's order.")
RAMPART_REASONS("model_exchange", RAMPART_MODEL_EXCHANGE_REASONS)

}  // namespace rampart::model_exchange
