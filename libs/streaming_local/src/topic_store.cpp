#include "topic_store.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_local/reasons.hpp"
#include "record_codec.hpp"

namespace rampart::streaming_local {
namespace {

using base::Result;
using storage::KeyRange;

constexpr uint8_t kFormat = 1;
constexpr size_t kMaxProblems = 100;  // longest list of problems

std::string partition_key(const Topic& topic, size_t partition) {
    std::string key = topic.raw_id;
    base::append_u32(key, static_cast<uint32_t>(partition));
    return key;
}

std::string encode(const Topic& topic) {
    const TopicOptions& options = topic.info.options;
    std::string out;
    base::append_u8(out, kFormat);
    base::append_field(out, topic.raw_id);
    base::append_u32(out, static_cast<uint32_t>(options.partitions));
    base::append_u8(out, options.fsync == Fsync::kAlways ? 1 : 0);
    base::append_u8(out, options.retention.max_age ? 1 : 0);
    base::append_i64(out, options.retention.max_age.value_or(base::Duration()).micros());
    base::append_u8(out, options.retention.max_bytes ? 1 : 0);
    base::append_u64(out, options.retention.max_bytes.value_or(0));
    return out;
}

Result<Topic> decode_topic(std::string_view name, std::string_view bytes) {
    base::ByteReader in(bytes);
    Topic topic;
    RAMPART_TRY(const uint8_t format, in.u8());
    RAMPART_TRY(topic.raw_id, in.field());
    RAMPART_TRY(const uint32_t partitions, in.u32());
    RAMPART_TRY(const uint8_t fsync, in.u8());
    RAMPART_TRY(const uint8_t has_age, in.u8());
    RAMPART_TRY(const int64_t age, in.i64());
    RAMPART_TRY(const uint8_t has_bytes, in.u8());
    RAMPART_TRY(const uint64_t max_bytes, in.u64());
    if (format != kFormat || topic.raw_id.size() != kTopicIdBytes || partitions < 1 ||
        partitions > static_cast<uint32_t>(kMaxPartitions) || !in.empty()) {
        return base::make_error(Reason::kBadTopicRecord,
                                "topic '{}' is stored in an unknown format", name);
    }
    topic.info.name = name;
    topic.info.id = base::to_hex(topic.raw_id);
    topic.info.options.partitions = static_cast<int32_t>(partitions);
    topic.info.options.fsync = fsync != 0 ? Fsync::kAlways : Fsync::kNever;
    if (has_age != 0) topic.info.options.retention.max_age = base::Duration::micros(age);
    if (has_bytes != 0) topic.info.options.retention.max_bytes = max_bytes;
    return topic;
}

Result<Partition> decode_partition(std::string_view bytes) {
    base::ByteReader in(bytes);
    Partition partition;
    RAMPART_TRY(partition.begin, in.i64());
    RAMPART_TRY(partition.end, in.i64());
    RAMPART_TRY(partition.bytes, in.u64());
    if (partition.begin < 0 || partition.begin > partition.end || !in.empty()) {
        return base::make_error(Reason::kBadPartitionRecord, "offsets {} to {} are invalid",
                                partition.begin, partition.end);
    }
    return partition;
}

Result<Partition> load_partition(const storage::Database& db, const Topic& topic, size_t index) {
    Partition partition;
    RAMPART_TRY(const auto stored, db.get(kPartitions, partition_key(topic, index)));
    if (stored) {
        RAMPART_TRY(partition, decode_partition(*stored));
    }
    RAMPART_TRY(const auto last,
                db.last(kRecords, KeyRange::with_prefix(partition_key(topic, index))));
    int64_t end = partition.begin == partition.end ? partition.end : partition.begin;
    if (last) {
        RAMPART_TRY(const int64_t offset, offset_of(last->first));
        end = offset + 1;
        // one that is damaged says so when it is read
        if (const auto content = decode_record(last->second)) {
            partition.appended_at = content->appended_at;
        }
    }
    if (end != partition.end) {
        return base::make_error(streaming::Reason::kCorruptLog,
                                "log '{}', topic '{}', partition {}: records end at {}, not at {}",
                                db.path().string(), topic.info.name, index, end, partition.end);
    }
    return partition;
}

}  // namespace

std::vector<std::string> topic_store_families() { return {"topics", "partitions", "records"}; }

std::string record_key(const Topic& topic, streaming::PartitionId partition, int64_t offset) {
    std::string key = partition_key(topic, static_cast<size_t>(partition.value()));
    base::append_u64(key, static_cast<uint64_t>(offset));
    return key;
}

Result<int64_t> offset_of(std::string_view record_key) {
    base::ByteReader in(record_key);
    RAMPART_TRY(const auto topic_and_partition, in.take(kTopicIdBytes + sizeof(uint32_t)));
    (void)topic_and_partition;
    RAMPART_TRY(const uint64_t offset, in.u64());
    if (!in.empty()) {
        return base::make_error(Reason::kBadRecordKey, "a record's key has {} bytes too many",
                                in.rest().size());
    }
    return static_cast<int64_t>(offset);
}

void put_topic(storage::WriteBatch& batch, const Topic& topic) {
    batch.put(kTopics, topic.info.name, encode(topic));
}

void put_partition(storage::WriteBatch& batch, const Topic& topic, size_t partition) {
    const Partition& p = topic.partitions[partition];
    std::string value;
    base::append_i64(value, p.begin);
    base::append_i64(value, p.end);
    base::append_u64(value, p.bytes);
    batch.put(kPartitions, partition_key(topic, partition), value);
}

void erase_topic(storage::WriteBatch& batch, const Topic& topic) {
    const auto all = KeyRange::with_prefix(topic.raw_id);
    batch.erase(kTopics, topic.info.name);
    // Ids are random; one of only 0xff bytes would have no end, but 16 of them do not occur.
    batch.erase_range(kPartitions, all.begin, all.end);
    batch.erase_range(kRecords, all.begin, all.end);
}

Result<std::map<std::string, Topic, std::less<>>> load_topics(const storage::Database& db) {
    std::map<std::string, Topic, std::less<>> topics;
    RAMPART_RETURN_IF_ERROR(
        db.scan(kTopics, KeyRange::all(),
                [&](std::string_view name, std::string_view bytes) -> Result<bool> {
                    RAMPART_TRY(Topic topic, decode_topic(name, bytes));
                    for (int32_t p = 0; p < topic.info.options.partitions; ++p) {
                        RAMPART_TRY(const Partition partition,
                                    load_partition(db, topic, static_cast<size_t>(p)));
                        topic.partitions.push_back(partition);
                    }
                    topics.emplace(name, std::move(topic));
                    return true;
                }));
    return topics;
}

Result<std::vector<std::string>> check_records(
    const storage::Database& db, const std::map<std::string, Topic, std::less<>>& topics) {
    std::vector<std::string> problems;
    const auto problem = [&](std::string text) {
        if (problems.size() < kMaxProblems) problems.push_back(std::move(text));
    };
    struct Found {
        std::string where;
        Partition stored;
        int64_t next = 0;  // offset
        uint64_t bytes = 0;
    };
    std::map<std::string, Found, std::less<>> partitions;  // by key prefix
    for (const auto& [name, topic] : topics) {
        for (size_t p = 0; p < topic.partitions.size(); ++p) {
            const Partition& stored = topic.partitions[p];
            partitions[partition_key(topic, p)] = {fmt::format("topic '{}', partition {}", name, p),
                                                   stored, stored.begin, 0};
        }
    }
    const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
        const auto found = partitions.find(key.substr(0, kTopicIdBytes + sizeof(uint32_t)));
        const auto offset = offset_of(key);
        if (found == partitions.end() || !offset) {
            problem(fmt::format("a record belongs to no topic: its key is {}", base::to_hex(key)));
            return true;
        }
        Found& partition = found->second;
        if (*offset != partition.next) {
            problem(fmt::format("{}: offset {} comes where {} should", partition.where, *offset,
                                partition.next));
        }
        const auto record = decode_record(value);
        if (!record) {
            problem(
                fmt::format("{}, offset {}: {}", partition.where, *offset, record.error().message));
        }
        partition.next = *offset + 1;
        partition.bytes += value.size();
        return true;
    };
    RAMPART_RETURN_IF_ERROR(db.scan(kRecords, KeyRange::all(), visit));
    for (const auto& [key, found] : partitions) {
        if (found.next != found.stored.end) {
            problem(fmt::format("{}: records end at {}, not at {}", found.where, found.next,
                                found.stored.end));
        }
        if (found.bytes != found.stored.bytes) {
            problem(fmt::format("{}: records have {} bytes, not {}", found.where, found.bytes,
                                found.stored.bytes));
        }
    }
    return problems;
}

base::Status check_position(std::string_view topic, streaming::PartitionId id,
                            const Partition& partition, streaming::Offset from) {
    if (from.value() < partition.begin) {
        return base::make_error(streaming::Reason::kRetentionGap,
                                "topic '{}', partition {}: offset {} is gone, the first record "
                                "kept is {}; rebuild from a checkpoint, or use a longer retention",
                                topic, id.value(), from.value(), partition.begin);
    }
    if (from.value() > partition.end) {
        return base::make_error(streaming::Reason::kOffsetAhead,
                                "topic '{}', partition {}: offset {} is past the end {}; the "
                                "topic is not the one that was read before",
                                topic, id.value(), from.value(), partition.end);
    }
    return base::ok();
}

}  // namespace rampart::streaming_local
