#pragma once

#include <cstddef>

namespace rampart::dataset {

/// Largest number of categories of a feature, in schemas and in the sets of trees. A split of so
/// many takes 2 KiB.
inline constexpr size_t kMostCategories = 16'384;

}  // namespace rampart::dataset
