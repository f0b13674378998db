#pragma once

#include "rampart/gbdt/learner.hpp"

namespace rampart::gbdt {

/// Checks the parameters per feature against the schema. Fails with bad_monotone, bad_interactions.
base::Status check_against(const LearnerParams& params, const dataset::FeatureSchema& schema);

}  // namespace rampart::gbdt
