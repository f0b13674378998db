#pragma once

#include "leaf_plan.hpp"

namespace rampart::constraints {

/// Returns the differences that are tested by one process: see evaluation.hpp. `plan` has the
/// leaves' figures of the development set. Neither conditions nor outcomes of the vault matter,
/// where ranges are fixed.
std::vector<Difference> choose_differences(const Program& program, const Settings& settings,
                                           const Log& selection, const Log& vault,
                                           const Plan& plan);

/// Returns the difference that a statement is, by the plan; nullptr: it is tested by its ends.
const Difference* difference_in(const Plan& plan, size_t statement);

/// Refuses differences that are not those of the program's statements.
base::Status check_differences(const Program& program, const Settings& settings, const Log& vault,
                               const Plan& plan);

/// Plans the bets of both ends.
base::Status plan_difference(const Settings& settings, const Plan& plan,
                             const Difference& difference, std::vector<EndPlan>& ends);

/// Returns the number of standard deviations by which the difference may fail its expectation
/// before it does not pass, with a development set of so many persons.
double deviations_allowed(const Settings& settings, const Plan& plan, const Difference& difference,
                          size_t selection_persons);

/// Returns ln of the smallest wealth, a lower bound of it; NaN: it cannot be computed.
double smallest_log_wealth(const Program& program, const Settings& settings, const Plan& plan,
                           const Difference& difference, const Log& vault,
                           const Outcomes& outcomes);

}  // namespace rampart::constraints
