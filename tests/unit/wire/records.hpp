#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "rampart/base/digest.hpp"
#include "rampart/domain/erasure.hpp"
#include "rampart/domain/labeled_example.hpp"
#include "rampart/domain/outcome.hpp"
#include "support/places.hpp"

/// Records that the tests of this room share; the goldens in tests/golden were made of them.
namespace rampart::wire::testing {

inline base::TimePoint time(const std::string& text) { return base::parse_iso8601(text).value(); }

inline domain::Application sample_application() {
    return {domain::ApplicationId("a-1"),
            domain::PersonId("p-1"),
            time("2005-04-01T10:00:00.25Z"),
            {{"age", 41.0}, {"education", std::string("université")}, {"limit", std::monostate{}}}};
}

inline domain::Decision sample_decision() {
    domain::Decision decision;
    decision.application = sample_application();
    decision.id = domain::decision_id_of(decision.application.id);
    decision.decided_at = time("2005-04-01T10:00:01Z");
    decision.policy = domain::PolicyId(std::string(64, 'a'));
    decision.certified = true;
    decision.score = 0.1 + 0.2;
    decision.p_exploit = 0.25;
    decision.p_approve = 0.3;
    decision.draw = 0.6666666666666666;
    decision.draw_key_id = "0123456789abcdef";
    decision.action = domain::Action::kDecline;
    decision.propensity = 1 - decision.p_approve;
    decision.reasons = {"feature.age", "random_draw_in_ramp"};
    return decision;
}

/// The same, drawn by a window of the person's.
inline domain::Decision sample_window_decision() {
    auto decision = sample_decision();
    decision.draw_window = {"card", 30, 429};
    return decision;
}

/// The same, referred to people by a challenger after the day's exploration.
inline domain::Decision sample_referred_decision() {
    auto decision = sample_window_decision();
    decision.p_approve = decision.p_exploit;
    decision.p_refer = 0.5;
    decision.action = domain::Action::kRefer;
    decision.propensity = decision.p_refer;
    decision.exploration_spent = true;
    decision.arm = domain::Arm{"challenge-2026", 1, 0.75, "fedcba9876543210"};
    decision.reasons.clear();
    return decision;
}

inline domain::Outcome sample_outcome() {
    return {domain::DecisionId("d-1"), "repaid", 2, -0.5, time("2005-10-01")};
}

inline domain::Outcome sample_censored() {
    return {domain::DecisionId("d-1"), "repaid", 3, 0, time("2005-10-01"), true};
}

inline domain::Override sample_override() {
    const auto decision = sample_decision();
    return {decision.id,
            1,
            domain::Action::kApprove,
            "underwriter-17",
            "income_verified",
            time("2005-04-02T09:30:00Z")};
}

inline domain::Erasure sample_erasure() {
    return {domain::DecisionId("d-1"), time("2008-01-01T12:00:00Z")};
}

inline domain::LabeledExample sample_example() {
    domain::LabeledExample example;
    example.decision = sample_decision();
    example.measure = "repaid";
    example.value = 1;
    example.revision = 1;
    example.matured_at = time("2005-12-01");
    example.known_at = time("2005-12-24");
    example.version = 1;
    return example;
}

/// Granted by a person, and then paid off early.
inline domain::LabeledExample sample_overridden() {
    auto example = sample_example();
    example.value.reset();
    example.censored = true;
    example.overridden = sample_override();
    return example;
}

/// The bytes behind tests/golden/<name>.hex.
inline std::string golden(const std::string& name) {
    std::ifstream file(test_support::source_dir() + "/tests/golden/" + name + ".hex");
    std::string hex;
    file >> hex;
    return base::from_hex(hex).value();
}

}  // namespace rampart::wire::testing
