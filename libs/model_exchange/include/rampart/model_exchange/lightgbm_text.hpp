#pragma once

#include <string>
#include <string_view>

#include "rampart/model_exchange/foreign_model.hpp"

/// LightGBM's text model files (Booster.save_model), versions v3 and v4.
namespace rampart::model_exchange {

/// Reads a model over `schema`.
///
/// Category numbers are looked up in the file's pandas_categorical if it has such a list; otherwise
/// as the schema's category with that number; otherwise, if the schema's categories are not
/// numbers, as its position. Missing categories go right, as in LightGBM. Fails with
/// invalid_argument: "not_a_lightgbm_model", "bad_model" (inconsistent content),
/// "unsupported_model" (cannot be converted, with a remedy), "unknown_feature", "unknown_category",
/// "wrong_split_kind"; out_of_range beyond the limits on trees and leaves. Memory is bounded by the
/// size of the input (fuzzed).
base::Result<ForeignModel> read_lightgbm(std::string_view text,
                                         const dataset::FeatureSchema& schema);

/// Writes a model for LightGBM 4, whose raw scores equal the ensemble's to the last bit on rows
/// encoded by `schema` (categories as codes; a data frame with the same categories works as well).
/// The base score is added to the first tree. Requires an ensemble that is valid for the schema.
/// Fails with invalid_argument "unsupported_name" for feature names that LightGBM's format cannot
/// represent; out_of_range "score_too_large" if a leaf plus the base score exceeds
/// model::kMaxRawValue.
base::Result<std::string> write_lightgbm(const model::Ensemble& ensemble,
                                         const dataset::FeatureSchema& schema);

}  // namespace rampart::model_exchange
