#pragma once

#include "rampart/postprocessing/postprocessor.hpp"

/// The post-processors. A new one is a file of its own, a line here and one in registry.cpp.
namespace rampart::postprocessing {

const Postprocessor& no_criterion();
const Postprocessor& statistical_parity();
const Postprocessor& equal_opportunity();
const Postprocessor& equalized_odds();
const Postprocessor& covariance();
const Postprocessor& group_thresholds();

}  // namespace rampart::postprocessing
