#pragma once

#include <string>
#include <vector>

#include "rampart/dataset/dataset.hpp"

namespace rampart::learning {

/// Returns a note for each feature with more categories in the rows than trees have bins for: how
/// many of them are one category to the trees, in how many rows, and what to do. Options are named
/// in backticks.
std::vector<std::string> notes_of_merged_categories(const dataset::Dataset& train, size_t max_bins);

}  // namespace rampart::learning
