#pragma once

#include <string>
#include <vector>

#include "rampart/certification/certificate_file.hpp"

/// The sentences of a certificate, made from its figures: an auditor makes them again and compares.
namespace rampart::certification {

std::string claim_of(const Certificate& certificate);
/// Returns how the figures are computed; empty for a refusal.
std::string recipe_of(const Certificate& certificate);
/// Returns how those beside the verdict are.
std::string figures_recipe(const RunPlan& plan);
/// Returns whether the claim is about the population that the vault's persons were drawn from, too.
bool of_population(const RunPlan& plan);
std::vector<Assumption> assumptions_of(const Certificate& certificate);

}  // namespace rampart::certification
