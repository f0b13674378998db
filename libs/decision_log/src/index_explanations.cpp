#include <set>

#include "index_keys.hpp"

/// What is kept beside a decision that was not known when it was made.
namespace rampart::decision_log {

using base::Result;
using base::Status;

Result<std::optional<std::string>> DecisionIndex::explanation(const domain::DecisionId& id) const {
    return database_->get(kExplanations, id.value());
}

Status DecisionIndex::keep_explanations(std::span<const Explanation> explanations) {
    const std::lock_guard lock(explaining_);
    storage::WriteBatch batch;
    std::set<std::string> kept;
    for (const auto& one : explanations) {
        const std::string& id = one.decision.value();
        RAMPART_TRY(const auto decision, database_->get(kDecisions, id));
        RAMPART_TRY(const auto known, database_->get(kExplanations, id));
        if (!decision || *decision == kErasedMark || known || !kept.insert(id).second) continue;
        batch.put(kExplanations, id, one.bytes);
    }
    return kept.empty() ? base::ok() : database_->write(batch, storage::Sync::kAlways);
}

Status DecisionIndex::check_explanations(const std::function<void(std::string)>& problem) const {
    return database_->scan(
        kExplanations, storage::KeyRange::all(),
        [&](std::string_view id, std::string_view) -> Result<bool> {
            RAMPART_TRY(const auto decision, database_->get(kDecisions, id));
            if (!decision || *decision == kErasedMark)
                problem(fmt::format("an explanation of decision '{}', which is {}", id,
                                    decision ? "erased" : "not there"));
            return true;
        });
}

}  // namespace rampart::decision_log
