#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rampart/certification/gate_run.hpp"

/// The gate's use of the development set: control variates, variances that bets are planned with,
/// forecasts.
namespace rampart::certification {

/// Sets control variates and variance of the group that `plan` names; `values` gets its units'
/// values, for the forecast. Errors: failed_precondition when the development set has too few
/// outcomes.
base::Status plan_from_selection(const GateConfig& config, ControlVariateKind kind,
                                 const ope::LoggedFeedback& selection, GroupPlan& plan,
                                 std::vector<double>& values);

/// Returns P(the best of the constant bets alone reaches ln(1/delta)), its log wealth taken as
/// normal with mean and variance of the development set, and the uncertainty of that mean included.
double pass_probability(std::span<const double> values, const GroupPlan& group, double delta);

/// Returns the mean effect per record, of the persons on hand, at which the group passes with
/// probability `power`, from the plan's figures alone: persons, range, bets and plan_variance. By
/// betting as in pass_probability(), but with the mean known and values that differ from it by one
/// standard deviation up or down. None: none below hi.
std::optional<double> smallest_seen(const RunPlan& run, const GroupPlan& group, double power);

/// Checks that the groups are the same in both, and that no person is in both.
base::Status check_split(const ope::LoggedFeedback& selection, const VaultSource& vault,
                         std::string_view pseudonym_key);

}  // namespace rampart::certification
