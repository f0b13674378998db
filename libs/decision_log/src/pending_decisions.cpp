#include "rampart/decision_log/pending_decisions.hpp"

namespace rampart::decision_log {

const domain::Decision* PendingDecisions::find(const domain::DecisionId& id) const {
    const auto it = by_id_.find(id);
    return it == by_id_.end() ? nullptr : &entries_[it->second].second;
}

uint64_t PendingDecisions::explored_on(const OwnedPartition& partition, int64_t day) const {
    const auto it = explored_.find({&partition, day});
    return it == explored_.end() ? 0 : it->second.size();
}

void PendingDecisions::add(OwnedPartition& partition, domain::Decision decision) {
    if (decision.explored) {
        explored_[{&partition, base::day_of(decision.decided_at)}].insert(
            decision.application.person);
    }
    by_id_.emplace(decision.id, entries_.size());
    entries_.emplace_back(&partition, std::move(decision));
}

void PendingDecisions::add(PendingDecisions others) {
    for (auto& [partition, decision] : others.entries_) add(*partition, std::move(decision));
}

}  // namespace rampart::decision_log
