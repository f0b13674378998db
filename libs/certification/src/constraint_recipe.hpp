#pragma once

#include <string>

#include "rampart/certification/gate_run.hpp"

namespace rampart::certification {

/// Returns how the constraints' figures are computed; empty: no constraints.
std::string constraint_recipe(const RunPlan& plan);

}  // namespace rampart::certification
