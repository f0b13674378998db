#include "services/decision_service/decision_index.hpp"

#include <set>

#include "rampart/base/bytes.hpp"
#include "rampart/base/log.hpp"
#include "rampart/wire/event_codec.hpp"

namespace rampart::decision_service {

using base::Result;
using base::Status;
using streaming::Offset;
using streaming::PartitionId;
using streaming::StoredRecord;

namespace {

constexpr base::Logger kLog("decision_service");
// positions in the list of families that open() gives; described in schemas/keys.md
constexpr storage::ColumnFamily kMeta{0};       // "topic" -> its identity
constexpr storage::ColumnFamily kDecisions{1};  // decision id -> record bytes as logged
constexpr storage::ColumnFamily kExplored{2};   // i64 day -> u64 count
constexpr storage::ColumnFamily kOffsets{3};    // u32 partition -> i64 next offset
constexpr std::string_view kTopicKey = "topic";
constexpr size_t kReadBatch = 1000;

std::string partition_key(PartitionId partition) {
    std::string key;
    base::append_u32(key, static_cast<uint32_t>(partition.value()));
    return key;
}

std::string day_key(int64_t day) {
    std::string key;
    base::append_i64(key, day);
    return key;
}

}  // namespace

DecisionIndex::DecisionIndex(std::unique_ptr<storage::Database> database,
                             const streaming::Reader& reader, std::string topic)
    : database_(std::move(database)), reader_(reader), topic_(std::move(topic)) {}

Result<std::unique_ptr<DecisionIndex>> DecisionIndex::open(const std::filesystem::path& path,
                                                           const streaming::Reader& reader,
                                                           std::string topic) {
    RAMPART_TRY(auto database,
                storage::Database::open(path, {"default", "decisions", "explored", "offsets"}));
    std::unique_ptr<DecisionIndex> index(
        new DecisionIndex(std::move(database), reader, std::move(topic)));
    RAMPART_RETURN_IF_ERROR(index->check_identity());
    RAMPART_RETURN_IF_ERROR(index->read_offsets());
    RAMPART_RETURN_IF_ERROR(index->catch_up());
    return index;
}

Status DecisionIndex::check_identity() {
    RAMPART_TRY(const std::string identity, reader_.identity(topic_));
    RAMPART_TRY(const auto indexed, database_->get(kMeta, kTopicKey));
    if (!indexed) {
        storage::WriteBatch batch;
        batch.put(kMeta, kTopicKey, identity);
        return database_->write(batch, storage::Sync::kAlways);
    }
    if (*indexed != identity) {
        return base::failed_precondition(
            "topic_recreated",
            "topic '{}' is not the one that {} was made from; restore the log, or remove the index "
            "to make it anew",
            topic_, database_->path().string());
    }
    return base::ok();
}

Status DecisionIndex::read_offsets() {
    RAMPART_TRY(const int32_t partitions, reader_.partitions(topic_));
    for (int32_t p = 0; p < partitions; ++p) {
        const PartitionId partition(p);
        RAMPART_TRY(const auto stored, database_->get(kOffsets, partition_key(partition)));
        if (stored) {
            RAMPART_TRY(const int64_t offset, base::ByteReader(*stored).i64());
            next_[partition] = Offset(offset);
            continue;
        }
        // A new index of an old log begins with what the log still holds.
        RAMPART_TRY(next_[partition], reader_.begin_offset(topic_, partition));
        if (next_[partition].value() > 0) {
            kLog.warning(
                "msg=\"decisions before this are gone from the log\" partition={} offset={}",
                partition, next_[partition]);
        }
    }
    return base::ok();
}

Result<std::optional<domain::Decision>> DecisionIndex::find(const domain::DecisionId& id) const {
    RAMPART_TRY(const auto bytes, database_->get(kDecisions, id.value()));
    if (!bytes) return std::optional<domain::Decision>();
    RAMPART_TRY(auto decision, wire::decode_decision(*bytes));
    return std::optional(std::move(decision));
}

Result<uint64_t> DecisionIndex::explored_on(int64_t day) const {
    RAMPART_TRY(const auto stored, database_->get(kExplored, day_key(day)));
    if (!stored) return uint64_t{0};
    return base::ByteReader(*stored).u64();
}

Status DecisionIndex::catch_up() {
    for (const auto& [partition, offset] : next_) RAMPART_RETURN_IF_ERROR(catch_up(partition));
    return base::ok();
}

Status DecisionIndex::catch_up(PartitionId partition) {
    while (true) {
        RAMPART_TRY(const auto records,
                    reader_.read(topic_, partition, next_[partition], kReadBatch));
        if (records.empty()) return base::ok();
        RAMPART_RETURN_IF_ERROR(index(records));
    }
}

Status DecisionIndex::apply(std::span<const StoredRecord> records) {
    auto expected = next_;
    for (const auto& record : records) {
        auto& next = expected[record.partition];
        if (record.offset != next) return catch_up();
        next = Offset(next.value() + 1);
    }
    return index(records);
}

Status DecisionIndex::index(std::span<const StoredRecord> records) {
    storage::WriteBatch batch;
    std::set<std::string> seen;
    std::map<int64_t, uint64_t> explored;
    std::map<PartitionId, Offset> next;
    for (const auto& [partition, offset, record] : records) {
        next[partition] = Offset(offset.value() + 1);
        RAMPART_TRY(const auto decision, wire::decode_decision(record.value));
        const std::string& id = decision.id.value();
        RAMPART_TRY(const auto known, database_->get(kDecisions, id));
        if (known || !seen.insert(id).second) continue;
        batch.put(kDecisions, id, record.value);
        if (decision.explored) ++explored[base::day_of(decision.application.event_time)];
    }
    for (const auto& [day, count] : explored) {
        RAMPART_TRY(const uint64_t before, explored_on(day));
        std::string value;
        base::append_u64(value, before + count);
        batch.put(kExplored, day_key(day), value);
    }
    for (const auto& [partition, offset] : next) {
        std::string value;
        base::append_i64(value, offset.value());
        batch.put(kOffsets, partition_key(partition), value);
    }
    // Not synced: what a power cut takes is read from the log again.
    RAMPART_RETURN_IF_ERROR(database_->write(batch, storage::Sync::kNever));
    for (const auto& [partition, offset] : next) next_[partition] = offset;
    return base::ok();
}

}  // namespace rampart::decision_service
