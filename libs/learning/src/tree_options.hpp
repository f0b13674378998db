#pragma once

#include <vector>

#include "rampart/gbdt/learner.hpp"
#include "rampart/learning/learner.hpp"

/// Options of boosted trees, which all learners have.
namespace rampart::learning {

std::vector<Option> tree_options();
/// For learners that stop on validation rows. `rounds`: by default; 0: never.
Option early_stopping_option(int64_t rounds = 50);

/// Returns the parameters that the options say; early stopping is off where the learner has no such
/// option or the task no validation rows. Errors: gbdt::validate's, bad_monotone, bad_interactions.
base::Result<gbdt::LearnerParams> tree_params(const OptionValues& values, const Task& task);
/// Checks what can be checked without data: ranges.
base::Status check_trees(const OptionValues& values);

/// Returns the trees to go on from; nullptr where the task has no start. Errors: cannot_resume.
base::Result<const model::Ensemble*> start_of(const Task& task);

/// Returns a callback of gbdt::train that reports trees.
gbdt::ProgressCallback tree_progress(const Task& task);

}  // namespace rampart::learning
