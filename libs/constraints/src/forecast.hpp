#pragma once

#include "rampart/base/result.hpp"
#include "rampart/constraints/evaluation.hpp"

namespace rampart::constraints {

/// Chooses the thresholds of the program's tails on the development set: of 24 impacts that were
/// seen, by steps ever nearer to the best, the one from which the best end can be expected. Errors:
/// plan()'s.
base::Status choose_thresholds(const Program& program, const Settings& settings,
                               const Log& selection, const Outcomes& outcomes, const Log& vault,
                               Plan& plan);

/// Returns c of each leaf, 0 where it has none.
std::vector<double> thresholds_of(const Program& program, const Plan& plan);

}  // namespace rampart::constraints
