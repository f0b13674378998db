#pragma once

#include <cstddef>

#include "rampart/dataset/dataset.hpp"

namespace rampart::dataset {

/// Returns how many rows of `rows` have the same features, to the bit, as some row of `others`;
/// missing equals missing, labels and groups do not count. A model that has learnt such a row's
/// label knows the answer for its twin. Requires the same schema. O(n·d).
size_t count_twins(const Dataset& rows, const Dataset& others);

}  // namespace rampart::dataset
