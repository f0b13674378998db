#pragma once

#include <string_view>

#include "rampart/model_exchange/foreign_model.hpp"

/// XGBoost's model files, versions 1.6 to 3: JSON (Booster.save_model("m.json")) and Universal
/// Binary JSON ("m.ubj", the format of every other name), which their first bytes show.
namespace rampart::model_exchange {

/// Reads a model over `schema`. The base score is converted to XGBoost's margin. Category numbers
/// are the schema's category with that number, or, if its categories are not numbers, positions.
/// Fails with invalid_argument: "not_an_xgboost_model", "bad_ubjson" (with the byte and what was
/// expected there), "bad_model", "unsupported_model", "unknown_feature", "unknown_category",
/// "wrong_split_kind"; out_of_range beyond the limits on trees and leaves. Memory is bounded by the
/// size of the input (fuzzed).
base::Result<ForeignModel> read_xgboost(std::string_view text,
                                        const dataset::FeatureSchema& schema);

}  // namespace rampart::model_exchange
