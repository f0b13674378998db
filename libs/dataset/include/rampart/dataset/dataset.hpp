#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rampart/dataset/feature_schema.hpp"

namespace rampart::dataset {

/// A table to learn from: n rows, d features, column-major. It has either labels or targets.
struct Dataset {
    FeatureSchema schema;
    std::vector<std::vector<float>> columns;  // [d][n]; category codes as floats; NaN = missing
    std::vector<uint8_t> label;               // [n] 1 = favourable, 0 = not; empty: targets
    std::vector<float> weight;                // [n] > 0; empty: all 1
    std::vector<int32_t> group;               // [n] in 0 … group_names.size()-1; empty: no groups
    std::vector<std::string> group_names;
    std::vector<double> target = {};  // [n] numeric labels; empty: labels

    size_t rows() const { return label.empty() ? target.size() : label.size(); }
    bool numeric() const { return !target.empty(); }
    float weight_of(size_t row) const { return weight.empty() ? 1.0f : weight[row]; }
    void copy_row(size_t row, std::span<float> out) const;  // out[d]
    /// The rows given, in that order.
    Dataset subset(std::span<const uint32_t> rows) const;
};

/// One column of n values for each feature, finite or NaN, category codes within the schema;
/// weights none or n, finite and > 0; labels 0 or 1, or targets finite, not both. What a learner
/// needs before it touches the numbers.
base::Status check_columns(const Dataset& data);

/// check_columns and at least one row, groups in range, every group non-empty, both labels
/// present. Errors name column, row and remedy; "numeric_label" for a table with targets.
base::Status validate(const Dataset& data);

/// The same of a table with targets: not all of them are one number ("one_label"). Error
/// "binary_label" for a table with labels.
base::Status validate_numeric(const Dataset& data);

}  // namespace rampart::dataset
