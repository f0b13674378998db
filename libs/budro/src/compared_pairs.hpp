#pragma once

#include <Eigen/Core>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::budro {

/// The most likely S of EXPLORE, by accelerated projected gradient: minimises over positive
/// semidefinite S the mean over pairs of -log P, P(comparable) = 2 / (1 + exp(v'Sv)), plus
/// l2/2·|S|^2. The loss is convex in S. difference: [pairs x dimensions]. Deterministic.
base::Result<Eigen::MatrixXd> explore(const Eigen::MatrixXd& difference,
                                      const std::vector<bool>& comparable, double l2);

}  // namespace rampart::budro
