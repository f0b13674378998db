#include "rampart/streaming/partitioner.hpp"

#include "rampart/base/check.hpp"

namespace rampart::streaming {
namespace {

constexpr uint32_t kSeed = 0x9747b28c;
constexpr uint32_t kMultiplier = 0x5bd1e995;

uint32_t byte_at(std::string_view bytes, size_t i) { return static_cast<unsigned char>(bytes[i]); }

}  // namespace

uint32_t murmur2(std::string_view bytes) {
    uint32_t hash = kSeed ^ static_cast<uint32_t>(bytes.size());
    size_t i = 0;
    for (; i + 4 <= bytes.size(); i += 4) {
        uint32_t word = byte_at(bytes, i) | byte_at(bytes, i + 1) << 8 |
                        byte_at(bytes, i + 2) << 16 | byte_at(bytes, i + 3) << 24;
        word *= kMultiplier;
        word ^= word >> 24;
        word *= kMultiplier;
        hash = hash * kMultiplier ^ word;
    }
    if (i < bytes.size()) {  // the remaining 1 to 3 bytes, little-endian
        for (size_t j = bytes.size(); j-- > i;) hash ^= byte_at(bytes, j) << 8 * (j - i);
        hash *= kMultiplier;
    }
    hash ^= hash >> 13;
    hash *= kMultiplier;
    return hash ^ hash >> 15;
}

PartitionId partition_of(std::string_view key, int32_t partitions) {
    RAMPART_CHECK(partitions >= 1, "{} partitions", partitions);
    return PartitionId(
        static_cast<int32_t>((murmur2(key) & 0x7fffffffu) % static_cast<uint32_t>(partitions)));
}

}  // namespace rampart::streaming
