#pragma once

#include <cstdint>
#include <string_view>

#include "rampart/streaming/record.hpp"

namespace rampart::streaming {

/// MurmurHash2, 32 bits, with the seed that Kafka's Java client uses (0x9747b28c).
uint32_t murmur2(std::string_view bytes);

/// The partition of a key: (murmur2(key) & 0x7fffffff) mod `partitions`, as Kafka's Java client and
/// librdkafka's `murmur2_random` do for records with a key. partitions >= 1.
PartitionId partition_of(std::string_view key, int32_t partitions);

}  // namespace rampart::streaming
