#include "person_scan.hpp"

#include <algorithm>

#include "rampart/wire/event_codec.hpp"

namespace rampart::joiner {

using base::Result;
using base::Status;
using storage::KeyRange;

/// Most states are ruled out by their bytes: an id that is not in them is not in the decision.
Status scan_for(const JoinStore& store, std::span<const domain::PersonId> persons,
                std::vector<PersonDecision>& found) {
    const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
        const bool named = std::any_of(persons.begin(), persons.end(), [&](const auto& person) {
            return value.find(person.value()) != std::string_view::npos;
        });
        if (!named) return true;
        RAMPART_TRY(const auto state, decode_join_state(value));
        if (state.decision.empty()) return true;
        RAMPART_TRY(const auto decision, wire::decode_decision(state.decision));
        const auto& application = decision.application;
        if (std::find(persons.begin(), persons.end(), application.person) == persons.end()) {
            return true;
        }
        found.push_back({application.person, domain::DecisionId(std::string(key)), application.id,
                         application.event_time, decision.decided_at});
        return true;
    };
    return store.db().scan(kJoins, KeyRange::all(), visit);
}

Status compact_erased(const JoinStore& store, std::span<const std::string> decisions) {
    auto& db = store.db();
    for (const auto& id : decisions) {
        RAMPART_RETURN_IF_ERROR(db.compact(kJoins, {id, id + '\0'}));
    }
    return db.compact(kQuarantine);
}

}  // namespace rampart::joiner
