#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::streaming {

/// Appends to topics. Thread safe.
class Writer {
  public:
    virtual ~Writer() = default;
    /// Appends each record to the partition of its key, in the given order; returns when they are
    /// durable (according to the topic's fsync policy or the broker's acks). Fails with
    /// resource_exhausted: nothing was written, retry later. After any other error some of the
    /// records may be stored, now or later: read the log to know; if they are appended again,
    /// readers must recognise a repeated record by its content.
    virtual base::Result<std::vector<Position>> append(std::string_view topic,
                                                       std::span<const Record> records) = 0;
    /// The same with a result for each record, so that a partition that takes no records fails its
    /// own only. A writer that keeps partitions apart does not wait for one for long: its records
    /// fail with unavailable, and may be stored later.
    virtual std::vector<base::Result<Position>> append_each(std::string_view topic,
                                                            std::span<const Record> records) {
        const auto positions = append(topic, records);
        if (positions) return {positions->begin(), positions->end()};
        return std::vector<base::Result<Position>>(records.size(), positions.error());
    }
    /// Appends to one partition, whatever the keys: for marks that the readers of a partition must
    /// see at their place in the log. Fails with out_of_range "bad_partition".
    virtual base::Result<std::vector<Position>> append_to(std::string_view topic,
                                                          PartitionId partition,
                                                          std::span<const Record> records) = 0;
};

}  // namespace rampart::streaming
