#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rampart/dataset/feature_schema.hpp"

namespace rampart::dataset {

/// Training table: n rows, d features, column-major. It has either labels or targets.
struct Dataset {
    FeatureSchema schema;
    std::vector<std::vector<float>> columns;  // [d][n]; category codes as floats; NaN = missing
    std::vector<uint8_t> label;               // [n] 1 = favourable, 0 = not; empty: targets
    std::vector<float> weight;                // [n] > 0; empty: all 1
    std::vector<int32_t> group;               // [n] in 0 … group_names.size()-1; empty: no groups
    std::vector<std::string> group_names;
    std::vector<double> target = {};      // [n] numeric labels; empty: labels
    std::vector<std::string> notes = {};  // what was left out, pooled or taken as missing, in words

    size_t rows() const { return label.empty() ? target.size() : label.size(); }
    bool numeric() const { return !target.empty(); }
    float weight_of(size_t row) const { return weight.empty() ? 1.0f : weight[row]; }
    void copy_row(size_t row, std::span<float> out) const;  // out[d]
    /// Returns the given rows, in the given order.
    Dataset subset(std::span<const uint32_t> rows) const;
};

/// Checks that there is one column of n values for each feature, finite or NaN, category codes
/// within the schema; weights none or n, finite and > 0; either labels 0 or 1, or finite targets.
/// Every learner requires this before it reads the numbers.
base::Status check_columns(const Dataset& data);

/// Checks check_columns, at least one row, groups in range and non-empty, and that both labels
/// occur. Errors name column, row and remedy; "numeric_label" for a table with targets.
base::Status validate(const Dataset& data);

/// Checks the same for a table with targets, which may not all be equal ("one_label"). Fails with
/// "binary_label" for a table with labels.
base::Status validate_numeric(const Dataset& data);

}  // namespace rampart::dataset
