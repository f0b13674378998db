#include "listings.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "rampart/joiner/reasons.hpp"
#include "rampart/wire/event_codec.hpp"

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

Status add_reviews(const JoinStore& store, size_t limit, const std::optional<ReviewPlace>& after,
                   std::vector<OpenReview>& found) {
    const auto snapshot = store.db().snapshot();
    size_t left = limit;
    const auto visit = [&](std::string_view key, std::string_view) -> Result<bool> {
        if (left == 0) return false;
        --left;
        RAMPART_TRY(const auto at, parse_review_key(key));
        RAMPART_TRY(const auto state, store.load(at.id, &snapshot));
        if (!state || state->decision.empty())
            return base::make_error(Reason::kCorruptIndex, "decision '{}' has no state", at.id);
        RAMPART_TRY(const auto decision, wire::decode_decision(state->decision));
        auto open = open_review(*state, decision);
        if (!open)
            return base::make_error(Reason::kCorruptIndex, "decision '{}' has no open review",
                                    at.id);
        found.push_back(*std::move(open));
        return true;
    };
    // the smallest key behind the place's
    const auto begin = after ? review_key(after->since, after->id) + '\0' : std::string();
    return store.db().scan(kReviews, {begin, ""}, visit, &snapshot);
}

Status count_reviews(const JoinStore& store, ReviewQueue& queue) {
    bool first = true;
    return store.db().scan(kReviews, KeyRange::all(), [&](auto key, auto) -> Result<bool> {
        ++queue.open;
        if (!std::exchange(first, false)) return true;
        RAMPART_TRY(const auto at, parse_review_key(key));
        queue.oldest = std::min(queue.oldest.value_or(at.event_time), at.event_time);
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

std::vector<OpenReview> first_of(std::vector<OpenReview> found, size_t limit) {
    std::sort(found.begin(), found.end(), [](const OpenReview& a, const OpenReview& b) {
        return std::tie(a.since, a.decision) < std::tie(b.since, b.decision);
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
