#pragma once

#include <map>
#include <optional>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/lease/lease_record.hpp"
#include "rampart/streaming/reader.hpp"

namespace rampart::lease {

/// State of one partition in the lease topic.
struct Lease {
    std::string node, session, address;
    uint64_t epoch = 0;
    base::Duration ttl;
    bool released = false;
    bool proven = false;  // the holder has confirmed that it won
    streaming::Offset last_sign{
        0};  // offset of the last record that counted; increases while the holder is alive
    std::optional<base::TimePoint> signed_at{};  // when the log took that record, if it says so
};

/// The leases of one group, as a function of the lease topic. Every reader computes the same state:
///
///   claim    counts if no record has counted since the one that it replaces, and its epoch is
///            higher. So of concurrent claims the first in the log wins, and none wins against a
///            holder that has sent a beat in between.
///   beat     counts for the holder, and against any lower epoch: only a winner sends beats. This
///            corrects readers that start after compaction has kept a losing claim.
///   release  counts for the holder.
///
/// If a key has no lease yet, its first record counts. A record that cannot be read, or is of
/// another group, is skipped. Not thread safe.
class LeaseBoard {
  public:
    LeaseBoard(const streaming::Reader& reader, std::string topic, std::string group);

    /// Reads the topic to its end; from its beginning, with a line in the log, where it ends before
    /// what was read: it was truncated or made anew. What is known stays then, until a record of
    /// the holder or of a higher epoch is read. Fails as the Reader does.
    base::Status refresh();

    /// Returns the leases by partition; contains every partition that was ever claimed.
    const std::map<streaming::PartitionId, Lease>& leases() const { return leases_; }
    /// nullptr: never claimed.
    const Lease* find(streaming::PartitionId partition) const;

  private:
    base::Status start();
    void apply(const streaming::StoredRecord& stored);

    const streaming::Reader& reader_;
    std::string topic_, group_;
    std::map<streaming::PartitionId, Lease> leases_;
    streaming::Offset next_{0};
    bool started_ = false;
};

}  // namespace rampart::lease
