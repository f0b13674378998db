#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "row_sample.hpp"

namespace rampart::dataset {

/// Rows that each label needs before anything is said of how a column and the labels go together.
inline constexpr size_t kFewestOfALabel = 20;

/// Returns how well one column alone ranks the labels, from 0.5 to 1: numbers in either direction
/// with missing cells at either end, texts and numbers of few values by the rates of the other half
/// of the sample. nullopt: too few rows of a label.
std::optional<double> auc_alone(const RowSample& sample, size_t column, bool numeric);

/// Returns why a name looks like data of a person, or like a protected characteristic; empty: it
/// does not.
std::string personal_by_name(std::string_view name);

/// Returns bounds of bands for a protected column of numbers; empty: there is nothing to divide.
std::vector<double> propose_bands(const RowSample& sample, size_t column, std::string_view name);

}  // namespace rampart::dataset
