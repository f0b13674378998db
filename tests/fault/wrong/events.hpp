#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "rampart/domain/decision.hpp"

/// Names that the variants and the judge share.
namespace rampart::wrong {

/// The store of a consumer: how often each event was counted, by its id; and offsets.
inline std::vector<std::string> event_families() { return {"counts", "offsets"}; }

/// Two writers decide differently, so that the test sees whose decision it is.
inline domain::Decision decision_on(const std::string& application, uint64_t epoch) {
    domain::Decision decision;
    decision.application.id = domain::ApplicationId(application);
    decision.application.person = domain::PersonId(std::string("p"));
    decision.id = domain::decision_id_of(decision.application.id);
    decision.policy = domain::PolicyId(std::string(64, '0'));
    decision.score = decision.p_exploit = decision.p_approve = 1;
    decision.draw_key_id = fmt::format("k{}", epoch);
    decision.action = domain::Action::kApprove;
    return decision;
}

}  // namespace rampart::wrong
