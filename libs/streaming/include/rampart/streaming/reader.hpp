#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::streaming {

/// Reads partitions of topics from offsets that the caller stores; there are no consumer groups and
/// no commits. Thread safe.
class Reader {
  public:
    virtual ~Reader() = default;
    /// Returns the topic's number of partitions. Fails with not_found: no such topic.
    virtual base::Result<int32_t> partitions(std::string_view topic) const = 0;
    /// Returns the id of this topic in this log or cluster: it changes if the topic is deleted and
    /// recreated, so that offsets of the old one are never used for the new one. Fails with
    /// not_found: no such topic.
    virtual base::Result<std::string> identity(std::string_view topic) const = 0;
    /// Returns up to `limit` records from `from` on, in offset order; empty at the end (at the time
    /// of the call). An offset is missing only if the log never had a record there (Kafka's control
    /// records). Fails with data_loss "retention_gap": `from` is before the first remaining record;
    /// out_of_range "offset_ahead": `from` is past the end, so the topic is another one;
    /// unavailable: not reachable now, retry.
    virtual base::Result<std::vector<StoredRecord>> read(std::string_view topic,
                                                         PartitionId partition, Offset from,
                                                         size_t limit) const = 0;
    virtual base::Result<Offset> begin_offset(std::string_view topic,
                                              PartitionId partition) const = 0;
    virtual base::Result<Offset> end_offset(std::string_view topic,
                                            PartitionId partition) const = 0;
    /// Returns the end_offset() of each of the partitions, in their order.
    virtual std::vector<base::Result<Offset>> end_offsets(
        std::string_view topic, std::span<const PartitionId> partitions) const {
        std::vector<base::Result<Offset>> ends;
        for (const PartitionId partition : partitions) ends.push_back(end_offset(topic, partition));
        return ends;
    }
    /// Begins to fetch each partition from its position, so that the reads that follow do not wait
    /// for the first records one after the other. Trouble is left to these reads.
    virtual void prefetch(std::string_view /*topic*/, std::span<const Position>) const {}
    /// Returns when what this process was appending at the call is before its end_offset(), so that
    /// no record beyond that has an earlier append time than the clock showed at the call. Of what
    /// other processes append nothing is known.
    virtual void settle() const {}
};

}  // namespace rampart::streaming
