#include "index_keys.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::decision_log {

std::string topic_key(std::string_view topic) { return "topic/" + std::string(topic); }

std::string bookmark_key(std::string_view topic, streaming::PartitionId partition) {
    std::string key = "bookmark/";
    base::append_field(key, topic);
    base::append_u32(key, static_cast<uint32_t>(partition.value()));
    return key;
}

std::string day_key(int64_t day) {
    std::string key;
    base::append_i64(key, day);
    return key;
}

std::string explorers_from(int64_t day) { return "explorer/" + day_key(day); }

std::string explorer_key(int64_t day, const domain::PersonId& person) {
    std::string text = day_key(day);
    base::append_field(text, person.value());
    const auto digest = base::sha256(text);
    return explorers_from(day) +
           std::string(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size());
}

void put_explored(storage::WriteBatch& batch, int64_t day, uint64_t count) {
    std::string value;
    base::append_u64(value, count);
    batch.put(kExplored, day_key(day), value);
}

std::string partition_value(const IndexOptions& options) {
    std::string value;
    base::append_u32(value, static_cast<uint32_t>(options.partition.value()));
    base::append_u32(value, static_cast<uint32_t>(options.partitions));
    return value;
}

storage::WriteBatch first_batch(const IndexOptions& options) {
    storage::WriteBatch batch;
    batch.put(kMeta, kPartitionKey, partition_value(options));
    batch.put(kMeta, kExploredByKey, kDecidedAt);
    return batch;
}

}  // namespace rampart::decision_log
