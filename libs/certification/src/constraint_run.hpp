#pragma once

#include "rampart/certification/constraint_set.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/vault.hpp"
#include "rampart/ope/logged_feedback.hpp"

/// The constraints of a run: planned without the vault's outcomes, evaluated with them, and by an
/// auditor again, with the same code in the same order. All constraints are tested on one copy of
/// the log in memory, about 60 bytes a record.
namespace rampart::certification {

/// Plans all constraints. Errors: failed_precondition or invalid_argument, with the constraint's
/// name in front, where the data refuse a run.
base::Result<std::vector<ConstraintPlan>> plan_constraints(const ConstraintSet& set,
                                                           const RunPlan& run,
                                                           const ope::LoggedFeedback& selection,
                                                           const VaultSource& vault);

/// Recomputes all plans from the development set's figures in `plans`.
base::Result<std::vector<ConstraintPlan>> plan_again(const ConstraintSet& set, const RunPlan& run,
                                                     const std::vector<ConstraintPlan>& plans,
                                                     const VaultSource& vault);

/// Evaluates all constraints. Errors: invalid_argument for labels that do not fit; the source's.
base::Result<std::vector<ConstraintResult>> evaluate_constraints(const ConstraintSet& set,
                                                                 const RunPlan& run,
                                                                 const VaultSource& feedback);

/// Forecasts on the development set each constraint's chance of passing: that of its least likely
/// statement.
std::vector<GroupForecast> forecast_constraints(const ConstraintSet& set, const RunPlan& run,
                                                const ope::LoggedFeedback& selection);

}  // namespace rampart::certification
