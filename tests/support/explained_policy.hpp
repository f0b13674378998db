#pragma once

#include <map>
#include <string>
#include <vector>

#include "rampart/model/policy.hpp"

/// Learned policies that can be explained, as a registry wants them: with a score that reads a
/// feature, and a reference row.
namespace rampart::support {

/// Returns a link whose raw score is `raw`, and 0.001 more where the first feature, a number, is
/// above 0.
inline model::LearnedLink scored_link(double raw) {
    model::Tree tree;
    tree.nodes.resize(3);
    tree.nodes[0] = {.feature = 0, .threshold = 0, .left = 1, .right = 2};
    tree.nodes[2].value = 0.001;
    model::LearnedLink link;
    link.ensemble.base_score = raw;
    link.ensemble.trees = {tree};
    return link;
}

/// Returns the policy of the links, whose reasons compare with a row of zeros.
inline model::Policy explained_policy(const dataset::FeatureSchema& schema,
                                      std::vector<model::Link> links) {
    model::PolicyState state;
    state.reasons = {model::ReasonMethod::kShapley, std::vector<float>(schema.size())};
    return model::Policy::create(schema, std::move(links), {}, {}, std::move(state)).value();
}

}  // namespace rampart::support
