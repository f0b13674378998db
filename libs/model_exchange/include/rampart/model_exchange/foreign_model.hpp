#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/model/ensemble.hpp"

namespace rampart::model_exchange {

/// Meaning of the raw score of a foreign model.
enum class RawScore {
    kLogOdds,  // log-odds of label 1
    kValue,    // prediction of a regression
    kLogarithm,
};
std::string_view to_string(RawScore raw);  // "log-odds", "value", "logarithm"

/// A model of another library, converted to a feature schema: valid for it (model::validate).
struct ForeignModel {
    model::Ensemble ensemble;
    RawScore raw = RawScore::kLogOdds;
    std::string objective;           // in the other library's spelling
    std::vector<std::string> notes;  // assumptions made, for a person to read
};

/// Exchanges the roles of the labels: the result is the log-odds of label 0.
void negate(model::Ensemble& ensemble);

/// Returns the schema feature of each foreign feature, by name; nullopt if the schema has no
/// such name (an error only if the model splits on it). A schema name matches unchanged, or
/// with white space as underscores, as LightGBM writes it. Placeholder names (Column_0 … or f0
/// …, or no names at all) are matched by position, if the number of features agrees; this adds
/// a line to `notes`. Fails with invalid_argument "ambiguous_feature_name",
/// "wrong_feature_count".
base::Result<std::vector<std::optional<size_t>>> match_features(
    std::span<const std::string> names, size_t count, const dataset::FeatureSchema& schema,
    std::vector<std::string>& notes);

}  // namespace rampart::model_exchange
