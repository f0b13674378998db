#include "person_decisions.hpp"

#include "rampart/wire/event_codec.hpp"

namespace rampart::joiner {

using base::Result;
using base::Status;
using storage::KeyRange;

Status find_decisions(const JoinStore& store, const domain::PersonId& person,
                      std::vector<PersonDecision>& found) {
    const auto visit = [&](std::string_view key, std::string_view) -> Result<bool> {
        const auto id = key.substr(kPersonHashBytes);
        RAMPART_TRY(const auto state, store.load(id, nullptr));
        if (!state || state->decision.empty()) return true;  // erased since
        RAMPART_TRY(const auto decision, wire::decode_decision(state->decision));
        const auto& application = decision.application;
        if (application.person != person) return true;  // its hash is the same
        found.push_back({person, domain::DecisionId(std::string(id)), application.id,
                         application.event_time, decision.decided_at});
        return true;
    };
    return store.db().scan(kPersons, KeyRange::with_prefix(person_key(person)), visit);
}

Status compact_erased(const JoinStore& store, const domain::PersonId& person,
                      std::span<const ErasedDecision> decisions) {
    auto& db = store.db();
    std::vector<storage::FamilyRange> parts;
    bool all_times = true;
    for (const auto& [id, event_time] : decisions) {
        parts.push_back({kJoins, {id, id + '\0'}});
        all_times &= event_time.has_value();
        if (!event_time) continue;
        const auto row = time_key(*event_time, id);
        parts.push_back({kByTime, {row, row + '\0'}});
    }
    if (!parts.empty()) parts.push_back({kPersons, KeyRange::with_prefix(person_key(person))});
    RAMPART_RETURN_IF_ERROR(db.compact(parts));
    if (!all_times) RAMPART_RETURN_IF_ERROR(db.compact_erased(kByTime));
    return db.compact_erased(kQuarantine);
}

}  // namespace rampart::joiner
