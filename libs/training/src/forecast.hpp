#pragma once

#include "rampart/candidate_selection/safety_objective.hpp"
#include "rampart/training/parameter_search.hpp"

namespace rampart::training {

/// Returns what the gate is predicted to find about policies on the records of `feedback`: one
/// constraint a group, in their order, and as loss the mean change of impact with its sign changed.
/// `power`: in (0.5, 1), of each group. Errors: candidate_selection's.
base::Result<candidate_selection::SafetyObjective> forecast_objective(
    const ope::LoggedFeedback& feedback, const GateForecastInputs& forecast, double power);

}  // namespace rampart::training
