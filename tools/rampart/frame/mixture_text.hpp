#pragma once

#include <string>

#include "rampart/model/policy.hpp"

namespace rampart::cli {

/// "a mixture of 150 members over 1 ensemble with 150 trees"; empty for a link without members.
std::string mixture_text(const model::LearnedLink& link);
/// What is done to the ensemble's score before the ramp: "calibrated by group", "less what the
/// features tell of the group"; empty: nothing.
std::string score_text(const model::LearnedLink& link);
/// For commands that take one ensemble apart: says that more than it decides; empty: it alone does.
std::string main_ensemble_note(const model::LearnedLink& link);

}  // namespace rampart::cli
