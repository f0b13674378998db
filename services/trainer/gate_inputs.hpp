#pragma once

#include "rampart/certification/safety_test.hpp"
#include "rampart/model/policy.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::trainer {

/// D_c as the gate plans from it: decisions and impacts.
base::Result<ope::LoggedFeedback> selection_feedback(const training_set::DevelopmentSet& development,
                                                     const model::Policy& candidate, const model::Policy& reference);

/// The vault without impacts: all that may be looked at before a run is charged. Rows that a group-aware
/// policy could not have decided (no cell) are left out.
base::Result<ope::LoggedDecisions> vault_decisions(const training_set::VaultSet& vault, const model::Policy& candidate,
                                                   const model::Policy& reference);

/// The impacts of the same rows, in the same order. To be called with a ticket in hand.
std::vector<double> vault_impacts(const training_set::VaultSet& vault, const model::Policy& candidate,
                                  const model::Policy& reference);

}  // namespace rampart::trainer
