#pragma once

#include "rampart/gbdt/learner.hpp"

namespace rampart::gbdt {

/// Whether the parameters that speak of features fit these. Errors: bad_monotone, bad_interactions.
base::Status check_against(const LearnerParams& params, const dataset::FeatureSchema& schema);

}  // namespace rampart::gbdt
