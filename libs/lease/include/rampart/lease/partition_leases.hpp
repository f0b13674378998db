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
    std::string group;             // nodes of one group share the partitions; a name (check_name)
    std::string node;              // unique in the group, the same after every restart; a name
    base::Duration ttl = base::Duration::seconds(10);  // 100 ms to 1 h
    std::string address{};  // where clients reach this node (check_address); empty: not said
};

/// All must outlive the leases. The clock only dates records; these dates are never compared.
struct LeaseDeps {
    const streaming::Reader& reader;
    streaming::Writer& writer;
    const base::Clock& clock;
    const Timer& timer;
};

/// The present owner of a partition.
struct Holder {
    streaming::PartitionId partition;
    std::string node;
    uint64_t epoch = 0;
    std::string address{};  // where clients reach it; empty: it does not say
    bool operator==(const Holder&) const = default;
};

/// The partitions that this run of this node owns; kTrainer may be one (TrainerLease).
///
/// Lifecycle: create(); claim() at start; heartbeat() every ttl / 3 from a thread; release() at a
/// clean stop. The destructor releases nothing, like a crash.
///
/// Two nodes may both believe for a short time that they own a partition, if one was suspended: the
/// epoch distinguishes them. An epoch of a partition is never used twice, and each is higher than
/// all before. Claims and releases are durable when the call returns.
///
/// Thread safe. claim() and check_free() may take a ttl and block other calls that use the topic;
/// owned() and holder() never wait.
class PartitionLeases {
  public:
    using Epochs = std::map<streaming::PartitionId, uint64_t>;

    /// Does no I/O yet. Fails with invalid_argument "bad_name", "bad_node_address"; out_of_range
    /// "bad_ttl".
    static base::Result<std::unique_ptr<PartitionLeases>> create(LeaseOptions options,
                                                                 LeaseDeps deps);

    /// Claims all of `partitions`; on an error owns only those owned before.
    ///
    /// Unowned partitions, and those of an earlier run of this node, are taken at once. A
    /// partition of another node is watched for that node's ttl: if a beat arrives the claim is
    /// refused, otherwise the partition is taken over. Epochs are higher than `floors` (from the
    /// fences in the log), if given.
    ///
    /// Fails with failed_precondition "partition_owned", naming partition, node and remedy;
    /// unavailable "stopped": the process was stopped while it watched; and as Reader and Writer
    /// do, after which the claim may be repeated.
    base::Result<Epochs> claim(const std::set<streaming::PartitionId>& partitions,
                               const Epochs& floors = {});

    /// Watches what other nodes have of `partitions` as claim() does, and claims nothing: for a
    /// node that is to make something for them first. Errors: claim()'s.
    base::Status check_free(const std::set<streaming::PartitionId>& partitions);

    /// Reads the claims of other nodes and sends a beat for each partition still owned. Returns the
    /// partitions lost since the last call, with their new holders: stop deciding for those. On an
    /// error the state is unknown; leases last a ttl since the last success.
    base::Result<std::vector<Holder>> heartbeat();

    /// Releases all, so that other nodes need not wait. Owns nothing afterwards, even on an error.
    base::Status release();

    /// Reads the topic and returns the lease, also one that was given up or has expired; nullopt:
    /// never claimed.
    base::Result<std::optional<Lease>> look(streaming::PartitionId partition);
    /// Returns the id of this run in its records.
    const std::string& session() const { return session_; }

    /// Returns what this run owns, as of the last call of the three.
    Epochs owned() const;
    /// Returns the holder as far as this node has read the topic; nullopt: none.
    std::optional<Holder> holder(streaming::PartitionId partition) const;
    /// Returns when the log took the last claim, beat or release of the partition, as far as this
    /// node has read the topic; nullopt: there was none, or the log does not say.
    std::optional<base::TimePoint> last_sign(streaming::PartitionId partition) const;
    base::Duration ttl() const { return options_.ttl; }
    /// Returns how long ago the leases were last claimed or renewed; nullopt: never. Never waits.
    std::optional<base::Duration> age() const;

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
    void note_renewed();

    LeaseOptions options_;
    LeaseDeps deps_;
    std::string session_;
    std::mutex mutex_;  // guards the topic: held while it is read and written
    LeaseBoard board_;
    Epochs owned_;
    std::vector<Holder> lost_;  // not yet reported

    mutable std::mutex view_mutex_;  // held for copying only, never for I/O
    Epochs owned_view_;
    std::optional<base::Duration> renewed_;  // by the timer
    std::map<streaming::PartitionId, Holder> holders_view_;
    std::map<streaming::PartitionId, base::TimePoint> signs_view_;
};

}  // namespace rampart::lease
