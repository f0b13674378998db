#pragma once

#include "rampart/certification/constraint_set.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/vault.hpp"
#include "rampart/ope/logged_feedback.hpp"

/// The constraints of a run: planned without the vault's outcomes, evaluated with them, and by an
/// auditor again, with the same code in the same order. All constraints are tested on one copy of
/// the log in memory, about 60 bytes a record.
namespace rampart::certification {

/// Plans of all constraints. Errors: failed_precondition or invalid_argument, with the constraint's
/// name in front, for what refuses a run.
base::Result<std::vector<ConstraintPlan>> plan_constraints(const ConstraintSet& set,
                                                           const RunPlan& run,
                                                           const ope::LoggedFeedback& selection,
                                                           const VaultSource& vault);

/// From D_c's figures in `plans`, all others again.
base::Result<std::vector<ConstraintPlan>> plan_again(const ConstraintSet& set, const RunPlan& run,
                                                     const std::vector<ConstraintPlan>& plans,
                                                     const VaultSource& vault);

/// Errors: invalid_argument for labels that do not fit; the source's.
base::Result<std::vector<ConstraintResult>> evaluate_constraints(const ConstraintSet& set,
                                                                 const RunPlan& run,
                                                                 const VaultSource& feedback);

/// Chance that all pass, as D_c forecasts it: of each constraint's least likely statement.
std::vector<GroupForecast> forecast_constraints(const ConstraintSet& set, const RunPlan& run,
                                                const ope::LoggedFeedback& selection);

}  // namespace rampart::certification
