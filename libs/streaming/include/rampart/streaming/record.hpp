#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/strong_type.hpp"

namespace rampart::streaming {

/// Position in a partition: 0 for the first record, then 1 more for each; never reused.
using Offset = base::StrongType<int64_t, struct OffsetTag>;
using PartitionId = base::StrongType<int32_t, struct PartitionTag>;

struct Position {
    PartitionId partition;
    Offset offset;
    bool operator==(const Position&) const = default;
};

struct Header {
    std::string name, value;
    bool operator==(const Header&) const = default;
};

/// A record to write: bytes under a key. Records of one key go to one partition, in order.
struct Record {
    std::string key;
    std::string value;
    base::TimePoint timestamp;    // event time
    std::vector<Header> headers;  // "schema": e.g. "rampart.v1.Decision/1"
    bool operator==(const Record&) const = default;
};

/// Encryption state of the record that was read.
enum class Seal : uint8_t {
    kNone,    // stored unsealed
    kOpened,  // sealed, and opened
    kErased,  // sealed with a destroyed key; a stand-in is returned
};

/// A record as it is read.
struct StoredRecord {
    PartitionId partition;
    Offset offset;
    Record record;
    Seal seal = Seal::kNone;
    /// Time of the append, by the clock of who keeps the log; nullopt: the log does not say.
    std::optional<base::TimePoint> appended_at{};
};

}  // namespace rampart::streaming
