#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "rampart/model/model_file.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/registry/model_registry.hpp"
#include "support/loan_makers.hpp"
#include "support/memory_log.hpp"

/// What a store knows after a policy has approved half of all.
namespace rampart::support {

/// Registers that policy of a feature "income"; makes it the champion where there is none.
inline domain::PolicyId approve_half(registry::ModelRegistry& registry) {
    const auto schema =
        dataset::FeatureSchema::create({{"income", dataset::FeatureKind::kNumeric, {}}}).value();
    const model::BootstrapLink half{"income", {{0, 0.5}}, 0.5};
    const auto policy = model::Policy::create(schema, {half}, {}, {}).value();
    const auto id =
        registry.register_model(model::encode_model_file(policy), day(0), "test").value();
    if (!registry.champion()) {
        EXPECT_TRUE(registry.bootstrap_champion(id, day(0), "test"));
    }
    return id;
}

/// Puts a person's attributes, decision and, if approved, outcome into store and log; with `score`
/// the outcome of that measure, too. Every second person is approved, every second pair is of one
/// sex.
inline void append_person(MemoryLog& log, protected_attributes::ProtectedStore& attributes,
                          const domain::PolicyId& policy, int person, double income, bool repays,
                          std::optional<double> score = std::nullopt) {
    const bool approved = person % 2 == 0;
    const auto name = fmt::format("{}", person);
    const protected_attributes::ProtectedAttributes known{
        domain::PersonId("p-" + name), day(0), {{"sex", person / 2 % 2 == 0 ? "female" : "male"}}};
    EXPECT_TRUE(attributes.put(std::span(&known, 1), day(0)));
    auto decision = make_decision(name, day(31 + person % 25), approved);
    decision.application.features = {{"income", income}};
    decision.policy = policy;
    decision.p_exploit = decision.p_approve = decision.propensity = 0.5;
    const auto record = to_record(decision);
    EXPECT_TRUE(log.append("decisions", std::span(&record, 1)));
    if (!approved) return;
    const auto report = [&](const char* measure, double value) {
        const auto outcome =
            to_record(make_outcome(name, measure, 0, value, day(60 + person % 25)));
        EXPECT_TRUE(log.append("outcomes", std::span(&outcome, 1)));
    };
    report("repaid", repays ? 1 : 0);
    if (score) report("score", *score);
}

}  // namespace rampart::support
