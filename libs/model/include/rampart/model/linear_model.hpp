#pragma once

#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::model {

/// Linear model: intercept + sum over features. A missing number counts as the feature's mean, a
/// missing or unknown category adds nothing.
struct LinearModel {
    double intercept = 0;
    std::vector<double> slope, mean;            // [d]; 0 for categorical features
    std::vector<std::vector<double>> category;  // [d][codes]; empty for numeric features

    /// Returns the contribution of a feature's value.
    double term(size_t feature, float value) const;
    double predict(std::span<const float> row) const;
    std::vector<double> predict(const dataset::Dataset& data) const;  // [n]
};

/// Returns whether a coefficient is not 0; if none, the score is the same for every row.
bool reads_a_feature(const LinearModel& linear);

/// Bound of every number in a model, so that no sum overflows.
inline constexpr double kMaxCoefficient = 1e30;

/// Checks for one slope and mean per feature, one number per category, all within kMaxCoefficient;
/// no slope for categories, no categories for numbers. "bad_linear_model" errors name the feature.
base::Status validate(const LinearModel& linear, const dataset::FeatureSchema& schema);

}  // namespace rampart::model
