#pragma once

#include <Eigen/Core>

#include "metric_columns.hpp"

/// Directions that predict a protected attribute: normals of separating hyperplanes.
namespace rampart::budro {

struct RegressionColumns {
    const dataset::Dataset* data = nullptr;
    const std::vector<FairMetric::Column>* columns = nullptr;
    std::vector<bool> used;  // [columns]; the coefficients of the others are 0
};

/// Logistic regression, Newton's method: minimises the mean of log(1 + exp(-±(w'x + b))) +
/// l2/2·|w|^2 over rows of known target. target: [n] 1, 0, or -1 unknown. [columns]. Error:
/// "not_converged".
base::Result<Eigen::VectorXd> logistic_direction(const RegressionColumns& table,
                                                 const std::vector<int8_t>& target, double l2);

/// Ridge regression: minimises the mean of (w'x + b - target)^2/2 + l2/2·|w|^2, with that of the
/// candidates which has the least leave-one-out error (the first, on ties). target: NaN unknown.
base::Result<Eigen::VectorXd> ridge_direction(const RegressionColumns& table,
                                              std::span<const double> target,
                                              std::span<const double> candidates);

}  // namespace rampart::budro
