#pragma once

#include "rampart/learning/learner.hpp"

/// The learners. A new one is a file of its own, a line here and one in registry.cpp.
namespace rampart::learning {

const Learner& gbdt_learner();
const Learner& fairgbm_learner();
const Learner& exponentiated_gradient_learner();
const Learner& grid_search_learner();
const Learner& random_reweighing_learner();
const Learner& budro_learner();
const Learner& fair_regression_learner();
const Learner& regression_trees_learner();

}  // namespace rampart::learning
