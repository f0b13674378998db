#pragma once

#include <string>
#include <vector>

#include "rampart/certification/certificate_file.hpp"

/// The sentences of a certificate, made from its figures: an auditor makes them again and compares.
namespace rampart::certification {

std::string claim_of(const Certificate& certificate);
std::string recipe_of(const RunPlan& plan);
std::vector<Assumption> assumptions_of(const Certificate& certificate);

}  // namespace rampart::certification
