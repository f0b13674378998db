#pragma once

#include <string>
#include <string_view>

#include "rampart/decision_log/decision_index.hpp"
#include "rampart/storage/database.hpp"

/// Where an index keeps what, as schemas/keys.md says.
namespace rampart::decision_log {

// positions in the list of families that open() gives
inline constexpr storage::ColumnFamily kMeta{0};
inline constexpr storage::ColumnFamily kDecisions{1};  // decision id -> bytes, or kErasedMark
inline constexpr storage::ColumnFamily kExplored{2};   // i64 day decided -> u64 persons
inline constexpr storage::ColumnFamily kQuarantine{3};
inline constexpr storage::ColumnFamily kExplanations{4};  // decision id -> bytes of the caller's
inline constexpr std::string_view kErasedMark;            // no message is empty

std::string topic_key(std::string_view topic);
std::string bookmark_key(std::string_view topic, streaming::PartitionId partition);
std::string day_key(int64_t day);
/// Says that the person had an explored approval that day, by a digest of both.
std::string explorer_key(int64_t day, const domain::PersonId& person);
/// Lies before the explorer keys of that day, and behind those of earlier ones.
std::string explorers_from(int64_t day);
void put_explored(storage::WriteBatch& batch, int64_t day, uint64_t count);

inline constexpr std::string_view kPartitionKey = "partition";
inline constexpr std::string_view kExploredByKey = "explored_by";
/// The time whose days explored approvals count for, as kExploredByKey has it.
inline constexpr std::string_view kDecidedAt = "decided_at";
/// Says which partition of how many the index is of.
std::string partition_value(const IndexOptions& options);
/// What a new index has.
storage::WriteBatch first_batch(const IndexOptions& options);

}  // namespace rampart::decision_log
