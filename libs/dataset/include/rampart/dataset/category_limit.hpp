#pragma once

#include <cstddef>

namespace rampart::dataset {

/// Largest number of categories of a feature, in schemas and in the sets of trees. A split of so
/// many takes 8 KiB.
inline constexpr size_t kMostCategories = 65'536;

}  // namespace rampart::dataset
