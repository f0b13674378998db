#include "listings.hpp"

#include <algorithm>
#include <tuple>

#include "rampart/joiner/reasons.hpp"

namespace rampart::joiner {

using base::Result;
using base::Status;
using storage::KeyRange;

domain::Override to_override(const TakenAction& taken, const domain::DecisionId& id) {
    return {id, taken.revision, taken.action, taken.actor, taken.reason, taken.at};
}

Status add_unmatched(const JoinStore& store, size_t limit, std::vector<Unmatched>& found) {
    const auto snapshot = store.db().snapshot();
    const auto visit = [&](std::string_view id, std::string_view) -> Result<bool> {
        if (found.size() >= limit) return false;
        RAMPART_TRY(const auto state, store.load(id, &snapshot));
        if (!state)
            return base::make_error(Reason::kCorruptIndex, "decision '{}' has no state", id);
        Unmatched unmatched{domain::DecisionId(std::string(id)), {}, {}};
        for (const auto& r : state->reports) {
            unmatched.outcomes.push_back(
                {unmatched.decision, r.measure, r.revision, r.value, r.observed_at, r.censored});
        }
        for (const auto& taken : state->taken) {
            unmatched.overrides.push_back(to_override(taken, unmatched.decision));
        }
        found.push_back(std::move(unmatched));
        return true;
    };
    return store.db().scan(kUnmatched, KeyRange::all(), visit, &snapshot);
}

Status add_overdue(const JoinStore& store, size_t limit, std::vector<Overdue>& found) {
    size_t left = limit;
    return store.db().scan(kOverdue, KeyRange::all(), [&](auto key, auto) -> Result<bool> {
        if (left-- == 0) return false;
        RAMPART_TRY(auto parsed, parse_maturity_key(key));
        found.push_back({domain::DecisionId(parsed.id), parsed.measure, parsed.maturity});
        return true;
    });
}

bool is_withheld(const Quarantined& quarantined) {
    return quarantined.reason == reason_info(Reason::kWithheldOutcome).word;
}

Status visit_quarantined(const JoinStore& store,
                         const std::function<Result<bool>(Quarantined)>& visit) {
    return store.db().scan(kQuarantine, KeyRange::all(), [&](auto key, auto value) -> Result<bool> {
        RAMPART_TRY(auto quarantined, wire::decode_quarantined(key, value));
        return visit(std::move(quarantined));
    });
}

Status add_quarantined(const JoinStore& store, size_t limit, Withheld withheld,
                       std::vector<Quarantined>& found) {
    size_t left = limit;
    return visit_quarantined(store, [&](Quarantined quarantined) -> Result<bool> {
        if (left == 0) return false;
        if (withheld == Withheld::kHidden && is_withheld(quarantined)) return true;
        --left;
        found.push_back(std::move(quarantined));
        return true;
    });
}

std::vector<Overdue> first_of(std::vector<Overdue> found, size_t limit) {
    std::sort(found.begin(), found.end(), [](const Overdue& a, const Overdue& b) {
        return std::tie(a.matured_at, a.measure, a.decision) <
               std::tie(b.matured_at, b.measure, b.decision);
    });
    if (found.size() > limit) found.resize(limit);
    return found;
}

std::vector<Quarantined> first_of(std::vector<Quarantined> found, size_t limit) {
    std::sort(found.begin(), found.end(), [](const Quarantined& a, const Quarantined& b) {
        return std::tie(a.topic, a.partition, a.offset) < std::tie(b.topic, b.partition, b.offset);
    });
    if (found.size() > limit) found.resize(limit);
    return found;
}

}  // namespace rampart::joiner
