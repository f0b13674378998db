#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/storage/database.hpp"
#include "rampart/streaming_local/local_log.hpp"

/// Topics and partitions in the database (schemas/keys.md).
namespace rampart::streaming_local {

inline constexpr size_t kTopicIdBytes = 16;
inline constexpr storage::ColumnFamily kTopics{0}, kPartitions{1}, kRecords{2};
std::vector<std::string> topic_store_families();

struct Partition {
    int64_t begin = 0, end = 0;  // offsets of the first stored record and of the next one
    uint64_t bytes = 0;          // size of the stored encoded records
    std::optional<base::TimePoint> appended_at{};  // that of the last stored record
};

struct Topic {
    TopicInfo info;
    std::string raw_id;  // the bytes of info.id
    std::vector<Partition> partitions;
};

std::string record_key(const Topic& topic, streaming::PartitionId partition, int64_t offset);
base::Result<int64_t> offset_of(std::string_view record_key);

void put_topic(storage::WriteBatch& batch, const Topic& topic);  // without its partitions
void put_partition(storage::WriteBatch& batch, const Topic& topic, size_t partition);
void erase_topic(storage::WriteBatch& batch, const Topic& topic);  // with partitions and records

/// Loads all topics; fails with data_loss if a partition's records do not match its end.
base::Result<std::map<std::string, Topic, std::less<>>> load_topics(const storage::Database& db);

/// Returns the faults of a log's records, as LocalLog::check.
base::Result<std::vector<std::string>> check_records(
    const storage::Database& db, const std::map<std::string, Topic, std::less<>>& topics);

/// Returns Reader::read's errors for an offset before the first stored record or past the end.
base::Status check_position(std::string_view topic, streaming::PartitionId id,
                            const Partition& partition, streaming::Offset from);

}  // namespace rampart::streaming_local
