#pragma once

#include "rampart/base/digest.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/vault.hpp"

/// The second reading of the vault, with impacts: bounds and verdict.
namespace rampart::certification {

/// Evaluates a plan. Errors: invalid_argument for impacts that don't fit; failed_precondition
/// "vault_changed" when the records are not those that the plan was made from.
base::Result<SealedResult> evaluate(const RunPlan& plan, const VaultSource& feedback);

/// Returns whether a group's values clear the bound of the configured kind.
bool clears(const RunPlan& plan, const stats::Moments& sample, double log_wealth,
            stats::Range range);

/// Evaluates the groups alone, in one reading; the verdict is theirs. `gamma`: in place of the
/// plan's missing_gamma. Errors: invalid_argument for impacts that don't fit.
base::Result<SealedResult> evaluate_groups(const RunPlan& plan, const VaultSource& feedback,
                                           std::optional<double> gamma = {});

/// Checks that impacts of the development set lie in the declared range where they matter.
base::Status check_impacts(const GateConfig& config, const ope::LoggedFeedback& selection);

size_t granted_declines(const ope::LoggedDecisions& decisions);

base::Digest digest_of(const ope::LoggedFeedback& selection);

/// Returns "women" or "women, against the anchor".
std::string plan_name(const std::string& group, Against against);

}  // namespace rampart::certification
