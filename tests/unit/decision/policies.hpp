#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "rampart/decision/decider.hpp"

/// Policies that the tests of this room share.
namespace rampart::decision::testing {

inline dataset::FeatureSchema sample_schema() {
    return dataset::FeatureSchema::create(
               {{"age", dataset::FeatureKind::kNumeric, {}},
                {"limit", dataset::FeatureKind::kNumeric, {}},
                {"education", dataset::FeatureKind::kCategorical, {"school", "university", "2"}}})
        .value();
}

/// Each id is of a person of its own.
inline domain::Application sample_application(const std::string& id = "a-1") {
    return {domain::ApplicationId(id),
            domain::PersonId("p" + id.substr(1)),
            base::parse_iso8601("2005-04-01").value(),
            {{"age", 41.0}, {"limit", std::monostate{}}, {"education", std::string("university")}}};
}

/// One split: `feature` <= threshold gives `low`, above (and missing) `high`.
inline model::Tree stump(int32_t feature, float threshold, double low, double high) {
    model::Tree tree;
    tree.nodes.resize(3);
    tree.nodes[0].feature = feature;
    tree.nodes[0].threshold = threshold;
    tree.nodes[0].left = 1;
    tree.nodes[0].right = 2;
    tree.nodes[1].value = low;
    tree.nodes[2].value = high;
    for (auto& node : tree.nodes) node.cover = 1;
    return tree;
}

/// Two stumps over age and limit; the ramp from 0 at p = 1/4 to 1 at p = 3/4.
inline model::LearnedLink sample_link() {
    model::LearnedLink link;
    link.ensemble.trees = {stump(0, 50, -1, 1), stump(1, 1000, -2, 2)};
    link.ramp.gamma = 1;
    link.ramp.offset = 0.5;
    return link;
}

/// Reasons against `row`.
inline model::PolicyState against(std::vector<float> row,
                                  model::ReasonMethod method = model::ReasonMethod::kReplacement) {
    return {.reasons = {{method, std::move(row)}}};
}

inline std::shared_ptr<const model::LoadedPolicy> load(std::vector<model::Link> links,
                                                       std::vector<std::string> groups = {},
                                                       model::PolicyState state = {}) {
    auto policy = model::Policy::create(sample_schema(), std::move(links), std::move(groups), {},
                                        std::move(state));
    EXPECT_TRUE(policy) << policy.error().message;
    const auto id = model::policy_id_of(model::encode_model_file(*policy));
    return std::make_shared<const model::LoadedPolicy>(model::LoadedPolicy{*std::move(policy), id});
}

inline std::shared_ptr<const model::LoadedPolicy> learned(model::LearnedLink link = sample_link(),
                                                          model::PolicyState state = {}) {
    return load({std::move(link)}, {}, std::move(state));
}

inline std::shared_ptr<const model::LoadedPolicy> bootstrap() {
    return load({model::BootstrapLink{"age", {{20, 0.0}, {60, 1.0}}, 0.5}});
}

}  // namespace rampart::decision::testing
