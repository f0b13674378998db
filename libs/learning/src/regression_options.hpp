#pragma once

#include <vector>

#include "rampart/fair_regression/loss.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/score.hpp"

/// Options of learners whose score is a number on the scale of the label: the loss, and the step
/// that decides.
namespace rampart::learning {

/// Returns `loss` and `loss_parameter`.
std::vector<Option> loss_options();
/// Returns them with what trees alone learn: the tweedie loss, and `variance_power`.
std::vector<Option> tree_loss_options();
/// Returns `threshold`, `approve_at_least` and `approve_at_most`.
std::vector<Option> step_options();

/// Errors: bad_usage, out_of_range "bad_loss_parameter".
base::Result<fair_regression::RegressionLoss> loss_of(const OptionValues& values);

/// Checks that one step is given at most.
base::Status check_steps(const OptionValues& values);
/// Checks the step, which is in the label's units, against the label's range.
base::Status check_step_range(const OptionValues& values, double lo, double hi);
/// Returns the step on the unit scale: by `approve_at_least` or `approve_at_most`, else by
/// `threshold`. Requires what the checks ask for.
model::ScoreStep step_of(const OptionValues& values, const fair_regression::RegressionLoss& loss,
                         const Task& task);

}  // namespace rampart::learning
