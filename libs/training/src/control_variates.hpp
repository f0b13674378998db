#pragma once

#include <vector>

#include "rampart/certification/gate_run.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/ope/logged_feedback.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::training {

/// Returns what add_control_variates() gives the records of the development set, as
/// selection_feedback() has them: each from the four fifths that do not hold its person. Errors:
/// ope::ImpactRegression's.
base::Result<std::vector<ope::ControlVariates>> development_control_variates(
    const training_set::DevelopmentSet& development, const model::Policy& candidate,
    const model::Policy& reference, const certification::GateConfig& config,
    const ope::LoggedFeedback& selection);

}  // namespace rampart::training
