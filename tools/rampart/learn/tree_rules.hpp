#pragma once

#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/gbdt/learner.hpp"

namespace rampart::cli {

/// What a user says of features by name, for the trees to keep to.
struct TreeRules {
    std::vector<std::string> monotone;      // "income=increasing", "debt=decreasing"
    std::vector<std::string> interactions;  // "income+debt": may meet on one way down a tree
};

/// Writes the rules into params. Errors name the option and the feature: bad_monotone,
/// bad_interactions.
base::Status apply_rules(const TreeRules& rules, const dataset::FeatureSchema& schema,
                         gbdt::LearnerParams& params);

}  // namespace rampart::cli
