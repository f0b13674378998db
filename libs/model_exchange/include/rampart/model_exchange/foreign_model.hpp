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

/// What the raw score of a foreign model means.
enum class RawScore {
    kLogOdds,  // of label 1
    kValue,    // of a regression
    kLogarithm,
};
std::string_view to_string(RawScore raw);  // "log-odds", "value", "logarithm"

/// A model of another library, read over a feature schema: valid for it (model::validate).
struct ForeignModel {
    model::Ensemble ensemble;
    RawScore raw = RawScore::kLogOdds;
    std::string objective;           // as the other library names it
    std::vector<std::string> notes;  // for people: what had to be assumed
};

/// The same model with the labels' roles exchanged: the log-odds of label 0.
void negate(model::Ensemble& ensemble);

/// For each feature of a foreign model, by name, the schema's; nullopt if the schema has none of
/// that name (an error only if the model splits on it). A schema name matches as it stands, or with
/// its white space as underscores, as LightGBM writes it. Names that a library gives where it knows
/// none (Column_0 … or f0 …, or no names at all) are matched by position, if there are as many
/// features; `notes` then gets a line.
/// Errors: invalid_argument "ambiguous_feature_name", "wrong_feature_count".
base::Result<std::vector<std::optional<size_t>>> match_features(
    std::span<const std::string> names, size_t count, const dataset::FeatureSchema& schema,
    std::vector<std::string>& notes);

}  // namespace rampart::model_exchange
