#pragma once

#include "rampart/certification/validation_figures.hpp"
#include "rampart/certification/vault.hpp"

namespace rampart::certification {

/// Computes how far what the test rests on may be wrong. `certified`: groups and constraints
/// passed. Keeps a few numbers of each person. Errors: the source's.
base::Result<Sensitivity> sensitivity(const RunPlan& plan, const VaultSource& feedback,
                                      bool certified);

}  // namespace rampart::certification
