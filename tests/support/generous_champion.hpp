#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rampart/model/model_file.hpp"
#include "services/rampartd/node.hpp"
#include "support/explained_policy.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::support {

/// Promotes a policy that approves as many as the trust region around the champion allows, by a
/// certificate of a run of the gate; in a store without an epoch of the error budget, it opens one
/// of so many `runs`. It decides from the node's next advance() on.
inline domain::PolicyId promote_a_generous_one(rampartd::Node& node, unsigned runs = 12) {
    namespace testing = registry::testing;
    auto& registry = node.registry();
    const auto first = registry.champion()->policy;
    const auto loaded = registry.load_model(first).value();
    auto links = loaded.policy.links();
    auto link = scored_link(50);
    link.ramp = {0.3, 0.5, {0.0}, {1.0}};
    links.emplace_back(link);
    const auto policy = explained_policy(loaded.policy.schema(), links);
    const auto id =
        registry.register_model(model::encode_model_file(policy), node.now(), "a test").value();
    const auto gate = testing::run_gate(id.value(), first.value(), node.keys().signing, {}, 0.75,
                                        0.25, 8, node.now() - testing::at(4), runs);
    EXPECT_EQ(gate.verdict, certification::Verdict::kCertified);
    for (size_t i = 0; i < gate.ledger.size(); ++i) {
        EXPECT_TRUE(registry.append_ledger_entries(i, std::vector<std::string>{gate.ledger[i]},
                                                   node.now(), "gate"));
    }
    const registry::Proof proof{gate.files.certificate, gate.files.evidence,
                                node.keys().signing.public_key()};
    const auto promoted = registry.promote(id, proof, node.now(), "a test");
    EXPECT_TRUE(promoted) << promoted.error().message;
    return id;
}

}  // namespace rampart::support
