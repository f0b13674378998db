#pragma once

#include <vector>

#include "rampart/fair_regression/loss.hpp"
#include "rampart/fair_regression/serving.hpp"
#include "rampart/learning/learner.hpp"
#include "rampart/model/score.hpp"

/// Options of learners whose score is a number on the scale of the label: the loss, and the step
/// that decides.
namespace rampart::learning {

/// Returns `loss` and `loss_parameter`.
std::vector<Option> loss_options();
/// Returns them with what trees alone learn: the tweedie loss, and `variance_power`.
std::vector<Option> tree_loss_options();
/// Returns `threshold`, `operate_at`, `approve_at_least` and `approve_at_most`.
std::vector<Option> step_options();

/// Errors: bad_usage, out_of_range "bad_loss_parameter".
base::Result<fair_regression::RegressionLoss> loss_of(const OptionValues& values);

/// Checks that one step is given at most, and reads the operating point.
base::Status check_steps(const OptionValues& values);
/// Checks the step, which is in the label's units, against the label's range, and that rates among
/// rows of one label are not asked for where labels are numbers.
base::Status check_step_labels(const OptionValues& values, const LabelsToCome& labels);
/// A link whose score is that of the models, and the step on the unit scale by which it decides.
struct SteppedLink {
    model::LearnedLink link;
    model::ScoreStep step;
};
/// Puts models into a link with the step that the options name: `approve_at_least`,
/// `approve_at_most`, `threshold` or, where `operate_at` is a rate, the lowest (fnr: highest) at
/// which it holds on the validation rows, else the training rows. Errors: score_link's;
/// "nothing_approved".
base::Result<SteppedLink> stepped_link(std::span<const fair_regression::ServedModel> models,
                                       int levels, const OptionValues& values,
                                       const fair_regression::RegressionLoss& loss,
                                       const Task& task);

}  // namespace rampart::learning
