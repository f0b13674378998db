#pragma once

#include <string>

#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/streaming/record.hpp"
#include "rampart/wire/event_codec.hpp"

/// Small consistent records for tests of code that handles decisions and outcomes.
namespace rampart::support {

inline base::TimePoint day(int64_t n) { return base::TimePoint() + base::Duration::days(n); }

/// Label "repaid" after a month and 10 days of grace; "score" in [-150, 75] after two months.
inline domain::Product two_measure_product() {
    domain::Product product;
    product.name = "loan";
    product.label = {"repaid", 0, 1, 1, base::Duration::days(10)};
    product.measures = {{"score", -150, 75, 2, base::Duration()}};
    product.impact = {"points", -150, 75, {}, 75, -150, 0};
    return product;
}

inline domain::Decision make_decision(const std::string& name, base::TimePoint time,
                                      bool approved = true) {
    domain::Decision decision;
    decision.id = domain::DecisionId("d-" + name);
    decision.application.id = domain::ApplicationId("a-" + name);
    decision.application.person = domain::PersonId("p-" + name);
    decision.application.event_time = time;
    decision.decided_at = time;
    decision.policy = domain::PolicyId(std::string(64, '0'));
    decision.score = 0.5;
    decision.p_exploit = decision.p_approve = 0.25;
    decision.draw = approved ? 0.1 : 0.9;
    decision.draw_key_id = std::string("k");
    decision.action = approved ? domain::Action::kApprove : domain::Action::kDecline;
    decision.propensity = approved ? 0.25 : 0.75;
    return decision;
}

inline domain::Outcome make_outcome(const std::string& name, std::string measure, uint32_t revision,
                                    double value, base::TimePoint observed_at) {
    return {domain::DecisionId("d-" + name), std::move(measure), revision, value, observed_at};
}

inline streaming::Record to_record(const domain::Decision& decision) {
    return {decision.id.value(),
            wire::encode(decision),
            decision.application.event_time,
            {{"schema", std::string(wire::kDecisionSchema)}}};
}

inline streaming::Record to_record(const domain::Outcome& outcome) {
    return {outcome.decision.value(),
            wire::encode(outcome),
            outcome.observed_at,
            {{"schema", std::string(wire::kOutcomeSchema)}}};
}

}  // namespace rampart::support
