#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rampart/dataset/feature_schema.hpp"

namespace rampart::dataset {

/// A table to learn from: n rows, d features, column-major.
struct Dataset {
    FeatureSchema schema;
    std::vector<std::vector<float>> columns;  // [d][n]; category codes as floats; NaN = missing
    std::vector<uint8_t> label;               // [n] 1 = favourable, 0 = not
    std::vector<float> weight;                // [n] > 0; empty: all 1
    std::vector<int32_t> group;               // [n] in 0 … group_names.size()-1; empty: no groups
    std::vector<std::string> group_names;

    size_t rows() const { return label.size(); }
    float weight_of(size_t row) const { return weight.empty() ? 1.0f : weight[row]; }
    void copy_row(size_t row, std::span<float> out) const;  // out[d]
    /// The rows given, in that order.
    Dataset subset(std::span<const uint32_t> rows) const;
};

/// One column of n values for each feature, finite or NaN, category codes within the schema;
/// weights none or n, finite and > 0; labels 0 or 1. What a learner needs before it touches the
/// numbers.
base::Status check_columns(const Dataset& data);

/// check_columns and at least one row, groups in range, every group non-empty, both labels
/// present. Errors name column, row and remedy.
base::Status validate(const Dataset& data);

}  // namespace rampart::dataset
