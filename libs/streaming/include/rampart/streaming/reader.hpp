#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming/record.hpp"

namespace rampart::streaming {

/// Reads partitions of topics from offsets that the caller keeps; there is no group and no commit.
/// Thread safe.
class Reader {
  public:
    virtual ~Reader() = default;
    /// Number of partitions of the topic. not_found: no such topic.
    virtual base::Result<int32_t> partitions(std::string_view topic) const = 0;
    /// Names this very topic of this very log or cluster: differs once it is deleted and made anew,
    /// so that offsets kept for the old one are never used on the new one. not_found: no such
    /// topic.
    virtual base::Result<std::string> identity(std::string_view topic) const = 0;
    /// Up to `limit` records from `from` on, in offset order; empty at the end, as it stood when
    /// read() was called. An offset is left out only where the log never held a record (Kafka's own
    /// marks). data_loss "retention_gap": `from` lies before the first record kept, so records are
    /// gone; out_of_range "offset_ahead": `from` lies past the end, so the topic is not the one it
    /// was; unavailable: cannot be reached now, retry.
    virtual base::Result<std::vector<StoredRecord>> read(std::string_view topic,
                                                         PartitionId partition, Offset from,
                                                         size_t limit) const = 0;
    virtual base::Result<Offset> begin_offset(std::string_view topic,
                                              PartitionId partition) const = 0;
    virtual base::Result<Offset> end_offset(std::string_view topic,
                                            PartitionId partition) const = 0;
};

}  // namespace rampart::streaming
