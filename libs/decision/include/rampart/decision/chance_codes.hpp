#pragma once

#include <span>
#include <string>
#include <vector>

#include "rampart/model/policy.hpp"

/// What a decision itself says of a decline: the part of chance, as codes of reason_codes.hpp. The
/// features that lowered P(approve) are worked out after the answer (ops/adr/0041), so that a
/// decision never names one that did not count.
namespace rampart::decision {

/// Returns the codes of a decline of the policy's `output`, which it was drawn with:
/// kExplorationDeclined alone, if draw < output.exploit; else kRandomDraw where exploit > 0, and
/// kExplorationNotDrawn where p_approve > exploit. Empty: no draw would have approved.
std::vector<std::string> chance_codes(const model::PolicyOutput& output, double p_approve,
                                      double draw);

/// Returns whether the codes name a feature, or a score: earlier releases stored such codes with
/// each decline, by the last link's score (ReasonCodes::explain).
bool names_features(std::span<const std::string> codes);

}  // namespace rampart::decision
