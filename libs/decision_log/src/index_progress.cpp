#include "index_keys.hpp"
#include "rampart/base/bytes.hpp"

/// How far the sources of applications have been decided, and their quarantine.
namespace rampart::decision_log {

using base::Result;
using base::Status;
using streaming::Bookmark;
using streaming::Offset;
using streaming::PartitionId;

Result<std::optional<Bookmark>> DecisionIndex::bookmark(std::string_view topic,
                                                        PartitionId source) const {
    RAMPART_TRY(const auto bytes, database_->get(kMeta, bookmark_key(topic, source)));
    if (!bytes) return std::optional<Bookmark>();
    RAMPART_TRY(auto mark, streaming::decode_bookmark(*bytes));
    return std::optional(std::move(mark));
}

Status DecisionIndex::check_source(std::string_view topic, PartitionId source,
                                   streaming::SourceChecks& checks) {
    return check(topic, source, checks);
}

Status DecisionIndex::put_progress(std::string_view topic, const Bookmarks& marks,
                                   std::span<const wire::Quarantined> quarantined,
                                   storage::Sync sync) {
    storage::WriteBatch batch;
    for (const auto& [source, mark] : marks) {
        batch.put(kMeta, bookmark_key(topic, source), streaming::encode(mark));
    }
    for (const auto& one : quarantined) {
        batch.put(kQuarantine, wire::quarantine_key(one.topic, one.partition, one.offset),
                  wire::encode_quarantined(one));
    }
    return batch.empty() ? base::ok() : database_->write(batch, sync);
}

Status DecisionIndex::visit_quarantined(
    const std::function<Result<bool>(wire::Quarantined)>& visit) const {
    return database_->scan(kQuarantine, storage::KeyRange::all(),
                           [&](std::string_view key, std::string_view value) -> Result<bool> {
                               RAMPART_TRY(auto one, wire::decode_quarantined(key, value));
                               return visit(std::move(one));
                           });
}

Result<std::vector<wire::Quarantined>> DecisionIndex::quarantined(size_t limit) const {
    std::vector<wire::Quarantined> found;
    RAMPART_RETURN_IF_ERROR(visit_quarantined([&](wire::Quarantined one) -> Result<bool> {
        if (found.size() >= limit) return false;
        found.push_back(std::move(one));
        return true;
    }));
    return found;
}

Result<std::optional<wire::Quarantined>> DecisionIndex::find_quarantined(std::string_view topic,
                                                                         PartitionId partition,
                                                                         Offset offset) const {
    const auto key = wire::quarantine_key(topic, partition, offset);
    RAMPART_TRY(const auto value, database_->get(kQuarantine, key));
    if (!value) return std::optional<wire::Quarantined>();
    RAMPART_TRY(auto one, wire::decode_quarantined(key, *value));
    return std::optional(std::move(one));
}

Status DecisionIndex::compact_erased(std::span<const domain::DecisionId> decisions) {
    std::vector<storage::FamilyRange> parts;
    for (const auto& id : decisions)
        for (const auto family : {kDecisions, kExplanations})
            parts.push_back({family, {id.value(), id.value() + '\0'}});
    if (!parts.empty()) parts.push_back({kMeta});
    RAMPART_RETURN_IF_ERROR(database_->compact(parts));
    return database_->compact_erased(kQuarantine);
}

Status DecisionIndex::compact_erased() {
    const storage::FamilyRange parts[] = {{kDecisions}, {kExplanations}, {kMeta}};
    RAMPART_RETURN_IF_ERROR(database_->compact(parts));
    return database_->compact_erased(kQuarantine);
}

Status DecisionIndex::drop_quarantined(const wire::Quarantined& one) {
    storage::WriteBatch batch;
    batch.erase(kQuarantine, wire::quarantine_key(one.topic, one.partition, one.offset));
    return database_->write(batch, storage::Sync::kAlways);
}

Status DecisionIndex::drop_quarantined_if(
    const std::function<bool(const wire::Quarantined&)>& matches) {
    constexpr size_t kPerWrite = 1000;
    std::vector<std::string> keys;
    const auto drop = [&]() -> Status {
        storage::WriteBatch batch;
        for (const auto& key : keys) batch.erase(kQuarantine, key);
        keys.clear();
        return database_->write(batch, storage::Sync::kAlways);
    };
    const auto visit = [&](const auto& one) -> Result<bool> {
        if (!matches(one)) return true;
        keys.push_back(wire::quarantine_key(one.topic, one.partition, one.offset));
        if (keys.size() == kPerWrite) RAMPART_RETURN_IF_ERROR(drop());
        return true;
    };
    RAMPART_RETURN_IF_ERROR(visit_quarantined(visit));
    return keys.empty() ? base::ok() : drop();
}

}  // namespace rampart::decision_log
