#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::streaming {

struct Position {
    PartitionId partition;
    Offset offset;
    bool operator==(const Position&) const = default;
};

/// Appends to topics. Thread safe.
class Writer {
  public:
    virtual ~Writer() = default;
    /// All records or none, in order; returns when they are durable (as the topic's fsync policy or
    /// the broker's acks say). resource_exhausted: nothing was written, retry later.
    virtual base::Result<std::vector<Position>> append(std::string_view topic,
                                                       std::span<const Record> records) = 0;
};

}  // namespace rampart::streaming
