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
    /// Appends each record to the partition of its key, those of a partition in the order given;
    /// returns when they are durable (as the topic's fsync policy or the broker's acks say).
    /// resource_exhausted: nothing was written, retry later. After any other error some of them may
    /// be there, or still get there: who needs to know reads the log; who appends them again counts
    /// on readers to know a record by its content.
    virtual base::Result<std::vector<Position>> append(std::string_view topic,
                                                       std::span<const Record> records) = 0;
    /// The same into one partition, whatever the keys: for marks that a partition's readers have to
    /// meet at their place in the log. out_of_range "bad_partition".
    virtual base::Result<std::vector<Position>> append_to(std::string_view topic,
                                                          PartitionId partition,
                                                          std::span<const Record> records) = 0;
};

}  // namespace rampart::streaming
