#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/lease/lease_board.hpp"
#include "rampart/lease/timer.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::lease {

struct LeaseOptions {
    std::string topic = "leases";  // one partition, compacted
    std::string group;             // whose nodes share the partitions; a name (check_name)
    std::string node;              // unique in the group, the same after every restart; a name
    base::Duration ttl = base::Duration::seconds(10);  // 100 ms to 1 h
};

/// All of it has to outlive the leases. The clock only dates records; nobody compares those dates.
struct LeaseDeps {
    const streaming::Reader& reader;
    streaming::Writer& writer;
    const base::Clock& clock;
    const Timer& timer;
};

/// Who owns a partition now.
struct Holder {
    streaming::PartitionId partition;
    std::string node;
    uint64_t epoch = 0;
    bool operator==(const Holder&) const = default;
};

/// The partitions that this run of this node owns.
///
/// Lifecycle: create(); claim() at start; heartbeat() every ttl / 3 from a thread; release() at a
/// clean stop. A destroyed object releases nothing, like a crash.
///
/// Two nodes may both believe for a moment that they own a partition, when one was asleep: the
/// epoch tells them apart. Of each partition no epoch is ever given twice, and each is higher than
/// all before. What is claimed and given up is durable when the call returns.
///
/// Thread safe. claim() may take a ttl, and what reads and writes the topic waits its turn; owned()
/// and holder() never wait.
class PartitionLeases {
  public:
    using Epochs = std::map<streaming::PartitionId, uint64_t>;

    /// Nothing is read or written yet. invalid_argument "bad_name"; out_of_range "bad_ttl".
    static base::Result<std::unique_ptr<PartitionLeases>> create(LeaseOptions options,
                                                                 LeaseDeps deps);

    /// Owns all of `partitions` when it returns, or, on an error, none but those owned before.
    ///
    /// What nobody holds, or this node held in a run before, is taken at once. What another node
    /// holds is watched for that node's ttl: with a sign of life the claim is refused, with none
    /// the partition is taken over. Epochs are higher than `floors` (what the fences in the log
    /// say), where those are given.
    ///
    /// Errors: failed_precondition "partition_owned", naming partition, node and remedy;
    /// unavailable "stopped": told to stop while it watched; those of Reader and Writer, after
    /// which the claim may be made again.
    base::Result<Epochs> claim(const std::set<streaming::PartitionId>& partitions,
                               const Epochs& floors = {});

    /// Reads what others have claimed, and says for all that is still owned that it is. Returns
    /// what was lost since the last call, and to whom: stop deciding for those partitions. On an
    /// error nothing is known; leases last a ttl since the last success.
    base::Result<std::vector<Holder>> heartbeat();

    /// Gives all up, so that others need not wait. Owns nothing afterwards, error or not.
    base::Status release();

    /// What this run owns, as of the last call of the three.
    Epochs owned() const;
    /// Who holds the partition as far as this node has read; nullopt: nobody, or never claimed.
    std::optional<Holder> holder(streaming::PartitionId partition) const;
    base::Duration ttl() const { return options_.ttl; }

  private:
    PartitionLeases(LeaseOptions options, LeaseDeps deps);
    bool is_mine(streaming::PartitionId partition, uint64_t epoch) const;
    base::Status watch_others(const std::set<streaming::PartitionId>& partitions);
    base::Status write(LeaseRecord::Kind kind, const Epochs& epochs);
    base::Result<Epochs> claim_all(std::set<streaming::PartitionId> wanted, const Epochs& floors);
    base::Result<Epochs> try_claim(const std::set<streaming::PartitionId>& partitions,
                                   const Epochs& floors);
    base::Error owned_by(streaming::PartitionId partition, const Lease& lease) const;
    void publish();

    LeaseOptions options_;
    LeaseDeps deps_;
    std::string session_;
    std::mutex mutex_;  // of the topic: held while it is read and written
    LeaseBoard board_;
    Epochs owned_;
    std::vector<Holder> lost_;  // not yet reported

    mutable std::mutex view_mutex_;  // held to copy, no longer
    Epochs owned_view_;
    std::map<streaming::PartitionId, Holder> holders_view_;
};

}  // namespace rampart::lease
