#pragma once

#include "rampart/dataset/dataset.hpp"

namespace rampart::explain {

/// A data set of `features` features with at least one row, its numbers as they should be.
base::Status check_data(const dataset::Dataset& data, size_t features);

}  // namespace rampart::explain
