#pragma once

#include <bit>

#include "fuzz.hpp"
#include "rampart/domain/labeled_example.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"
#include "rampart/protected_attributes/record.hpp"

/// Records made from the input: mostly plausible, with texts and numbers of every kind. They reach
/// cases that mutated bytes rarely reach, such as a text just above a limit.
namespace rampart::fuzz {

/// Returns an id, some bytes of the input, or one character many times.
inline std::string made_text(Choices& choices) {
    switch (choices.byte() % 8) {
        case 0:
            return std::string(choices.text(choices.byte() % 32));
        case 1: {
            const auto character = static_cast<char>(choices.byte());
            return std::string(choices.number(2) % 5000, character);
        }
        case 2:
            return "\xC3\xA9" + std::to_string(choices.byte());
        default:
            return "id-" + std::to_string(choices.byte() % 8);
    }
}

inline double made_number(Choices& choices) {
    constexpr double kPlain[] = {0, 1, 0.25, 0.5, 0.1, -0.0, 1e300, -3};
    const uint8_t kind = choices.byte();
    return kind % 4 == 0 ? std::bit_cast<double>(choices.number(8)) : kPlain[kind / 4 % 8];
}

inline base::TimePoint made_time(Choices& choices) {
    const auto plain = base::TimePoint::from_micros(1'112'349'600'000'000);
    return choices.byte() % 4 == 0
               ? base::TimePoint::from_micros(static_cast<int64_t>(choices.number(8)))
               : plain + base::Duration::micros(static_cast<int64_t>(choices.number(3)));
}

inline domain::Application made_application(Choices& choices) {
    domain::Application application;
    application.id = domain::ApplicationId(made_text(choices));
    application.person = domain::PersonId(made_text(choices));
    application.event_time = made_time(choices);
    const size_t features = choices.byte() % 4;
    for (size_t i = 0; i < features; ++i) {
        auto& [name, value] = application.features.emplace_back();
        name = made_text(choices);
        const auto kind = choices.byte() % 3;
        if (kind == 1) value = made_number(choices);
        if (kind == 2) value = made_text(choices);
    }
    return application;
}

inline domain::Decision made_decision(Choices& choices) {
    domain::Decision decision;
    decision.id = domain::DecisionId(made_text(choices));
    decision.application = made_application(choices);
    decision.decided_at = made_time(choices);
    decision.policy = domain::PolicyId(made_text(choices));
    decision.certified = choices.byte() % 2 == 0;
    decision.score = made_number(choices);
    decision.p_exploit = made_number(choices);
    decision.p_approve = made_number(choices);
    decision.draw = made_number(choices);
    decision.draw_key_id = made_text(choices);
    const bool approved = decision.draw < decision.p_approve;
    decision.action = approved ? domain::Action::kApprove : domain::Action::kDecline;
    decision.propensity = approved ? decision.p_approve : 1 - decision.p_approve;
    decision.explored = choices.byte() % 2 == 0;
    // many equal ones, or few different ones
    const size_t reasons = choices.byte() % 8 == 0 ? choices.number(2) % 5000 : 0;
    decision.reasons.assign(reasons, "feature.age");
    for (size_t i = choices.byte() % 4; i > 0; --i) decision.reasons.push_back(made_text(choices));
    if (choices.byte() % 2 == 0) {
        const int days = 1 + static_cast<int>(choices.number(2) % 4000);
        const int64_t number = domain::window_number(decision.decided_at, days, {});
        decision.draw_window = {made_text(choices), days, number + choices.byte() % 2};
    }
    return decision;
}

inline domain::Outcome made_outcome(Choices& choices) {
    domain::Outcome outcome;
    outcome.decision = domain::DecisionId(made_text(choices));
    outcome.measure = made_text(choices);
    outcome.revision = static_cast<uint32_t>(choices.number(4));
    outcome.value = made_number(choices);
    outcome.observed_at = made_time(choices);
    outcome.censored = choices.byte() % 8 == 0;
    return outcome;
}

inline domain::Override made_override(Choices& choices) {
    domain::Override taken;
    taken.decision = domain::DecisionId(made_text(choices));
    taken.revision = static_cast<uint32_t>(choices.number(4));
    if (choices.byte() % 2 == 0) taken.action_taken = domain::Action::kApprove;
    taken.actor = made_text(choices);
    taken.reason = made_text(choices);
    taken.at = made_time(choices);
    return taken;
}

inline protected_attributes::ProtectedAttributes made_person(Choices& choices) {
    protected_attributes::ProtectedAttributes person;
    person.person = domain::PersonId(made_text(choices));
    person.event_time = made_time(choices);
    for (size_t i = choices.byte() % 4; i > 0; --i) {
        person.attributes[made_text(choices)] = made_text(choices);
    }
    return person;
}

}  // namespace rampart::fuzz
