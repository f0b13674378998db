#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rampart/certification/gate_run.hpp"

/// What the gate takes from D_c: centres, variances that bets are planned with, forecasts.
namespace rampart::certification {

/// Centres and variance of the group that `plan` names; `values` are its units' values, for the
/// forecast. Errors: failed_precondition when D_c is too thin.
base::Status plan_from_selection(const GateConfig& config, Centres kind,
                                 const ope::LoggedFeedback& selection, GroupPlan& plan,
                                 std::vector<double>& values);

/// P(the best of the constant bets alone reaches ln(1/delta)), its log wealth taken as normal with
/// mean and variance of D_c, and the uncertainty of that mean included.
double pass_probability(std::span<const double> values, const GroupPlan& group, double delta);

/// Groups are the same in both, and no person is in both.
base::Status check_split(const ope::LoggedFeedback& selection, const VaultSource& vault,
                         std::string_view pseudonym_key);

}  // namespace rampart::certification
