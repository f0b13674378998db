#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/strong_type.hpp"

namespace rampart::streaming {

/// Position in a partition: the first record has 0, each next one 1 more; never re-used.
using Offset = base::StrongType<int64_t, struct OffsetTag>;
using PartitionId = base::StrongType<int32_t, struct PartitionTag>;

struct Header {
    std::string name, value;
    bool operator==(const Header&) const = default;
};

/// What is written: bytes under a key. Records of one key go to one partition and keep their order.
struct Record {
    std::string key;
    std::string value;
    base::TimePoint timestamp;    // event time
    std::vector<Header> headers;  // "schema": e.g. "rampart.v1.Decision/1"
    bool operator==(const Record&) const = default;
};

/// What lies in the log where a record was read.
enum class Seal : uint8_t {
    kNone,    // the record itself
    kOpened,  // a sealed one, which was opened
    kErased,  // a sealed one that nobody can open any more; what is here stands in for it
};

/// What is read back.
struct StoredRecord {
    PartitionId partition;
    Offset offset;
    Record record;
    Seal seal = Seal::kNone;
};

}  // namespace rampart::streaming
