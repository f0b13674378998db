#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/decision_log/decision_index.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::decision_log {

/// A partition that this node decides for: its index, the epoch under which it writes, and whether
/// it may go on.
///
/// status() may be asked by any thread; what reads or writes the log, by one at a time.
class OwnedPartition {
  public:
    OwnedPartition(std::unique_ptr<DecisionIndex> index, uint64_t exploration_per_day);

    streaming::PartitionId id() const { return index_->partition(); }
    DecisionIndex& index() { return *index_; }
    const DecisionIndex& index() const { return *index_; }
    uint64_t epoch() const { return epoch_; }  // 0: none, on a log of one process
    uint64_t exploration_per_day() const { return exploration_per_day_; }

    /// Writes under this epoch from now on: appends its fence to the log and reads up to it. epoch
    /// >= 1. failed_precondition "fenced": the log has a fence that is as high; claim again above
    /// it. Those of the index and of Writer.
    base::Status take(uint64_t epoch, const std::string& node, base::TimePoint now,
                      std::string_view topic, streaming::Writer& writer);

    /// ok: decide. Otherwise failed_precondition "fenced": given up, for good; unavailable
    /// "partition_rebuilding", or why that does not go on; or what the log or the index failed with
    /// last.
    base::Status status() const;
    bool given_up() const;
    /// The index is damaged, or is not read to the log's end yet: it answers nothing, since what it
    /// does not know may have been decided, or be erased.
    bool is_rebuilding() const;
    /// Failed with something that may pass: catch up before deciding again.
    bool is_behind() const;
    /// Whether others can wait for a further try of catch_up(): the last one that failed took so
    /// long that it is not repeated yet.
    bool may_try() const;
    /// Whether begin() has come to an answer from the log.
    bool has_begun() const { return begun_; }

    /// Notes that the log may hold more than the index.
    void fell_behind(const base::Error& why);
    /// Reads the log to its end; status() says how that went. Nothing once it is given up, or while
    /// it is rebuilding.
    base::Status catch_up();
    /// The first reading after it was opened, of up to `records`: if there are more, it is
    /// rebuilding.
    base::Status begin(size_t records);
    /// A turn of rebuilding: sets a damaged index aside, reads on up to `records`, and at the log's
    /// end calls `take` unless it has an epoch. true: there is more to do at once.
    bool mend(size_t records, const std::function<base::Status()>& take);
    /// Another node owns it now; empty: it is not known which. false: was given up before.
    bool give_up(const std::string& to);

  private:
    base::Status rebuilding() const;
    void refuse(const base::Error& why);

    const std::unique_ptr<DecisionIndex> index_;
    const uint64_t exploration_per_day_;
    uint64_t epoch_ = 0;
    bool begun_ = false;

    mutable std::mutex mutex_;
    base::Status trouble_;
    bool given_up_ = false;
    bool rebuilding_ = false;
    std::chrono::steady_clock::time_point retry_at_{};
};

/// What falls to a partition of the explored approvals that a day has, over all partitions: the
/// same wherever they are owned. The remainder goes to those with the lowest numbers.
uint64_t exploration_share(uint64_t per_day, streaming::PartitionId partition, int32_t partitions);

}  // namespace rampart::decision_log
