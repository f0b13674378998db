#pragma once

#include "rampart/base/result.hpp"
#include "rampart/candidate_selection/safety_objective.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/training/parameter_search.hpp"

namespace rampart::training {

/// Returns what the gate's test is forecast with on the development set: for each group the paired
/// difference to feedback.decisions.reference, and the loss of impact over all. The candidates in
/// `feedback` are not read. `power`: as SearchLimits. Errors: candidate_selection's (a group
/// without two persons in the development set or in the vault).
base::Result<candidate_selection::SafetyObjective> objective_of(const ope::LoggedFeedback& feedback,
                                                                const GateForecastInputs& forecast,
                                                                double power);

}  // namespace rampart::training
