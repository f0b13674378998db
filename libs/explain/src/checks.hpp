#pragma once

#include "rampart/dataset/dataset.hpp"

namespace rampart::explain {

/// Checks that the data set has `features` features, at least one row and valid numbers.
base::Status check_data(const dataset::Dataset& data, size_t features);

}  // namespace rampart::explain
