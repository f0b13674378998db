#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rampart/model/model_file.hpp"
#include "services/rampartd/node.hpp"
#include "support/explained_policy.hpp"
#include "unit/registry/gate_run.hpp"

namespace rampart::support {

/// A policy that approves as many as the trust region around the champion allows, and what the gate
/// says of it.
struct GenerousOne {
    domain::PolicyId id;
    registry::testing::GateRun gate;
};

/// Registers such a policy and has it certified by a run of the gate; in a store without an epoch
/// of the error budget, it opens one of so many `runs`.
inline GenerousOne certify_a_generous_one(rampartd::Node& node, unsigned runs) {
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
    auto gate = testing::run_gate(id.value(), first.value(), node.keys().signing, {}, 0.75, 0.25, 8,
                                  node.now() - testing::at(4), runs);
    EXPECT_EQ(gate.verdict, certification::Verdict::kCertified);
    for (size_t i = 0; i < gate.ledger.size(); ++i) {
        EXPECT_TRUE(registry.append_ledger_entries(i, std::vector<std::string>{gate.ledger[i]},
                                                   node.now(), "gate"));
    }
    return {id, std::move(gate)};
}

/// Promotes such a policy. It decides from the node's next advance() on.
inline domain::PolicyId promote_a_generous_one(rampartd::Node& node, unsigned runs = 12) {
    const auto [id, gate] = certify_a_generous_one(node, runs);
    const registry::Proof proof{gate.files.certificate, gate.files.evidence,
                                node.keys().signing.public_key()};
    const auto promoted = node.registry().promote(id, proof, node.now(), "a test");
    EXPECT_TRUE(promoted) << promoted.error().message;
    return id;
}

/// Proposes such a policy.
inline void propose_a_generous_one(rampartd::Node& node, const registry::ProposalTerms& terms) {
    const auto [id, gate] = certify_a_generous_one(node, 12);
    const registry::Proof proof{gate.files.certificate, gate.files.evidence,
                                node.keys().signing.public_key()};
    const auto made = node.registry().propose(id, proof, terms, node.now(), "a test");
    EXPECT_TRUE(made) << made.error().message;
}

}  // namespace rampart::support
