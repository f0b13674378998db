#pragma once

#include <string>
#include <string_view>

#include "rampart/model_exchange/foreign_model.hpp"

/// LightGBM's text model files (Booster.save_model), versions v3 and v4.
namespace rampart::model_exchange {

/// Reads a model over `schema`.
///
/// Numbers of categories are looked up in the file's pandas_categorical where it has such a list;
/// else as the schema's category that reads as that number; else, if the schema's categories are no
/// numbers, as its position. Missing categories go right, as in LightGBM.
/// Errors: invalid_argument with the reason "not_a_lightgbm_model", "bad_model" (what does not fit
/// together), "unsupported_model" (what cannot be said here, with a remedy), "unknown_feature",
/// "unknown_category", "wrong_split_kind"; out_of_range past the limits on trees and leaves.
/// Whatever the input, it costs no more memory than its size explains (fuzzed).
base::Result<ForeignModel> read_lightgbm(std::string_view text,
                                         const dataset::FeatureSchema& schema);

/// Writes a model that LightGBM 4 loads, whose raw scores equal the ensemble's to the last bit on
/// rows encoded by `schema` (categories as codes; a data frame with the same categories works as
/// well). The base score moves into the first tree.
/// The ensemble has to be valid for the schema. Errors: invalid_argument "unsupported_name" for
/// feature names that LightGBM's format cannot hold; out_of_range "score_too_large" if the base
/// score takes a leaf past model::kMaxRawValue.
base::Result<std::string> write_lightgbm(const model::Ensemble& ensemble,
                                         const dataset::FeatureSchema& schema);

}  // namespace rampart::model_exchange
