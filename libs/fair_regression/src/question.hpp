#pragma once

#include "rampart/fair_regression/oracle.hpp"

namespace rampart::fair_regression {

/// What holds of a question whoever is asked. Errors: bad_size, bad_target, bad_weight, bad_cells,
/// bad_parameter.
base::Status validate(const RegressionQuestion& question, size_t rows);

inline double weight_of(const RegressionQuestion& question, size_t row) {
    return question.weights.empty() ? 1.0 : static_cast<double>(question.weights[row]);
}

}  // namespace rampart::fair_regression
