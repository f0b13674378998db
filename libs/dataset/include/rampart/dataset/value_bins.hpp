#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rampart/dataset/dataset.hpp"

/// Bins in which the distributions of a value in two sets of rows are compared.
namespace rampart::dataset {

inline constexpr size_t kValueBins = 10;

/// Returns the bin of each value: 0 to kValueBins - 1, of about equal weight in `data`, where equal
/// values share one; kValueBins if it is missing (NaN). `values`: one for each row.
std::vector<size_t> quantile_bins(std::span<const double> values, const Dataset& data);
std::vector<size_t> quantile_bins(std::span<const float> values, const Dataset& data);

/// Returns the bin of each row's value of a feature: quantile_bins() of numbers; the code of a
/// category, and the number of categories if it is missing.
std::vector<size_t> value_bins(const Dataset& data, size_t feature);

}  // namespace rampart::dataset
