#pragma once

#include <map>
#include <string>

#include "rampart/base/result.hpp"
#include "rampart/lease/lease_record.hpp"
#include "rampart/streaming/reader.hpp"

namespace rampart::lease {

/// What the topic of leases says about one partition.
struct Lease {
    std::string node, session;
    uint64_t epoch = 0;
    base::Duration ttl;
    bool released = false;
    bool proven = false;  // its holder has said that it won
    streaming::Offset last_sign{
        0};  // of the last record that counted: grows while the holder lives
};

/// The leases of one group, as the topic tells them. Every reader comes to the same answer:
///
///   claim    counts if nothing has counted since what it replaces, and its epoch is higher. So of
///            claims made at the same time the first in the log wins, and none wins against a
///            holder who gave a sign of life in between.
///   beat     counts for the holder, and against any lower epoch: only who has won beats. That is
///            what sets right a reader who begins after compaction has left a lost claim standing.
///   release  counts for the holder.
///
/// Where a key has no lease yet, its first record counts. A record that cannot be read, or is of
/// another group, is passed over. Not thread safe.
class LeaseBoard {
  public:
    LeaseBoard(const streaming::Reader& reader, std::string topic, std::string group);

    /// Reads the topic to its end. Errors: those of Reader; out_of_range "offset_ahead": the topic
    /// was made anew under this node, start it again.
    base::Status refresh();

    /// By partition; of those that were ever claimed.
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
