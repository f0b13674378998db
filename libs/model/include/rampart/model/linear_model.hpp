#pragma once

#include <span>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::model {

/// intercept + sum over features. A missing number counts as the feature's mean, a missing or
/// unknown category adds nothing.
struct LinearModel {
    double intercept = 0;
    std::vector<double> slope, mean;            // [d]; of categorical features 0
    std::vector<std::vector<double>> category;  // [d][codes]; of numeric features empty

    /// What the value of a feature adds.
    double term(size_t feature, float value) const;
    double predict(std::span<const float> row) const;
    std::vector<double> predict(const dataset::Dataset& data) const;  // [n]
};

/// Of any number in a model, so that no sum overflows.
inline constexpr double kMaxCoefficient = 1e30;

/// One slope and mean for each feature, a number for each category, all within kMaxCoefficient; no
/// slope for categories, no categories for numbers. Errors "bad_linear_model" name the feature.
base::Status validate(const LinearModel& linear, const dataset::FeatureSchema& schema);

}  // namespace rampart::model
