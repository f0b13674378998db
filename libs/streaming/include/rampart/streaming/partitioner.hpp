#pragma once

#include <cstdint>
#include <string_view>

#include "rampart/streaming/record.hpp"

namespace rampart::streaming {

/// Computes MurmurHash2, 32 bits, with the seed of Kafka's Java client (0x9747b28c).
uint32_t murmur2(std::string_view bytes);

/// Returns the partition of a key: (murmur2(key) & 0x7fffffff) mod `partitions`, like Kafka's Java
/// client and librdkafka's `murmur2_random` for records with a key. Requires partitions >= 1.
PartitionId partition_of(std::string_view key, int32_t partitions);

}  // namespace rampart::streaming
