#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::decision {

/// Returns what encode_row() puts at `index` (below schema.size()) for a feature with this value:
/// missing, a number, or a text. Fails as it does.
base::Result<float> encode_value(
    const std::variant<std::monostate, double, std::string_view>& value,
    const dataset::FeatureSchema& schema, size_t index);

}  // namespace rampart::decision
