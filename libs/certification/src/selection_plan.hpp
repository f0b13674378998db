#pragma once

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

/// Checks that the groups are the same in both, and that no person is in both.
base::Status check_split(const ope::LoggedFeedback& selection, const VaultSource& vault,
                         std::string_view pseudonym_key);

}  // namespace rampart::certification
