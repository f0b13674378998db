#pragma once

#include "rampart/certification/validation_figures.hpp"
#include "rampart/certification/vault.hpp"

namespace rampart::certification {

/// Computes the groups' effects within both halves of the period, where the evidence names them,
/// and for each logging policy, where there are several. `opposite`: the plan mirrored(). Errors:
/// the source's.
base::Result<std::vector<PartEffect>> part_effects(const RunPlan& plan, const RunPlan& opposite,
                                                   const VaultSource& feedback);

}  // namespace rampart::certification
