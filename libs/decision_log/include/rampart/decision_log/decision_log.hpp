#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/decision_log/decision_index.hpp"
#include "rampart/decision_log/group_commit.hpp"
#include "rampart/decision_log/owned_partition.hpp"
#include "rampart/decision_log/pending_decisions.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::decision_log {

inline constexpr int32_t kMaxPartitions = 1024;

using Epochs = std::map<streaming::PartitionId, uint64_t>;

/// A node that owns a partition.
struct Owner {
    std::string node;
    std::string address{};  // where clients reach it, as in https://HOST:PORT; empty: not known
};

struct DecisionLogOptions {
    std::filesystem::path folder;  // partition P has the database P/decisions
    std::string topic = "decisions";
    int32_t partitions = 1;  // N, of the topic; 1 to kMaxPartitions
    /// Which of them this node decides for, each once; empty: all; no_partitions(): none.
    std::vector<streaming::PartitionId> owned{};
    /// Explored approvals per UTC day of the clock, over all N partitions: see exploration_share().
    uint64_t exploration_per_day = 0;
    /// Where other nodes may write to the same log: called by open() once all is read, with the
    /// owned partitions and the epoch of each one's last fence; claims their leases and returns
    /// their epochs, each higher. Empty: this process alone writes to the log, and needs none.
    std::function<base::Result<Epochs>(const Epochs& fences)> claim{};
    std::string node = "node";  // how fences name this node
    /// Who owns a partition that this node does not, for the answer; nullopt: not known. It may be
    /// older than what the log shows.
    std::function<std::optional<Owner>(streaming::PartitionId)> owner_of{};
    /// Called once for a partition that the log shows to be another node's, by the thread that
    /// found out; must not call the log of decisions.
    std::function<void(streaming::PartitionId)> on_given_up{};
    /// Called by open() before it reads each partition: how many are read, and of how many.
    std::function<void(size_t done, size_t of)> on_read{};
    std::shared_ptr<storage::MemoryBudget> memory{};  // for the databases; null: their own
    std::shared_ptr<rocksdb::Env> environment{};      // theirs, as in storage::OpenOptions
};

/// What the log of decisions works with; all of it has to outlive it.
struct DecisionLogDeps {
    const streaming::Reader& reader;
    streaming::Writer& writer;
    const base::Clock& clock;
};

/// State of an owned partition.
struct PartitionView {
    streaming::PartitionId partition;
    uint64_t epoch = 0;
    base::Status status;  // ok: it decides
    Fence fence;
    IndexCounts counts;
};

/// Indices that are damaged or not whole.
struct Upkeep {
    uint64_t set_aside = 0;   // since the log was opened
    uint64_t rebuilding = 0;  // are being made anew
    uint64_t refused = 0;     // cannot be made anew
};

/// The decisions of the partitions that this node owns: an index of each, and the way into the log.
///
/// open() catches up with the log, claims the partitions and fences off those that had them before.
/// Decisions of batches that are committed at the same time are appended together, and what was
/// appended is read back: only what counts there is acknowledged. A process that was asleep while
/// another took its partition over can still append, but what it appends counts nowhere: it finds
/// the other's fence before its own record, and gives the partition up.
///
/// A partition whose log or index fails is tried again by maintain(), and with the next batch
/// where that is quick, so that the others do not wait for it. After a gap in the log it waits for
/// accept_gap(). One whose index is damaged, or far behind the log when it is opened, answers
/// nothing until mend() has read the log to its end. The others go on.
///
/// Thread safe.
class DecisionLog {
  public:
    /// The topic has to exist. Errors: those of DecisionIndex::open and catch_up, but for gaps,
    /// which stop their partition, and for partitions that are unavailable, unless all are: they
    /// are read and claimed by maintain(); those of options.claim; failed_precondition
    /// "partitions_changed": the topic has another number of partitions, "fenced": another node was
    /// faster; out_of_range "bad_partitions".
    static base::Result<std::unique_ptr<DecisionLog>> open(DecisionLogOptions options,
                                                           DecisionLogDeps deps);

    /// Returns when the batch is finished, by this thread or by another that committed for it.
    void commit(Batch& batch);

    /// Erases decisions of any partition: an erasure of each is in the log, durably, when it
    /// returns, and of those that are owned here nothing is left in the index nor in its files.
    /// With no decisions named, takes in what others have erased. Either way, what was on its way
    /// into the log when it was called is there when it returns. Whether they may be erased is not
    /// asked. An index that is not whole reads of it in the log later: see all_whole(). May be
    /// repeated. Errors: those of Writer, of the index's catch_up() and compact_erased().
    base::Status erase(std::span<const domain::DecisionId> decisions, base::TimePoint now);
    /// Those among them, whose records in the log can no longer be opened, that have to be erased:
    /// not those that the index here does not have, or has as erased, since it reads of their
    /// erasure.
    base::Result<std::vector<domain::DecisionId>> not_erased(
        std::span<const domain::DecisionId> decisions);
    /// When it returns, none of the indices' files has what was erased at any time, whatever was
    /// interrupted. Takes as long as reading and writing all that they hold.
    base::Status compact_erased();

    /// Tries again what failed, so that a log without batches becomes ready again. Call it every
    /// few seconds.
    void maintain();
    /// A turn of reading the log for each index that is damaged, or not whole, between the commits
    /// of the others. true: there is more to do at once. Call it every second or so, and again
    /// while it says so; one thread at a time.
    bool mend();
    Upkeep upkeep() const;

    /// This node has lost the partition: decides nothing for it from now on. true: it was owned,
    /// and not given up before.
    bool give_up(streaming::PartitionId partition, const std::string& to);
    /// Goes on after a gap in a partition, from what the log has now, or, for partition -1, with
    /// the topic as it is now. For the operator, who knows what is lost. Empty: there was none.
    /// failed_precondition "not_owner"; those of DecisionIndex::accept_gap.
    base::Result<std::vector<AcceptedGap>> accept_gap(streaming::PartitionId partition);

    /// ok: something is decided here.
    base::Status any_decides() const;
    /// Names the first owned partition that nothing is decided for, and how many there are.
    base::Status all_decide() const;
    /// unavailable "partition_rebuilding": the index of an owned partition is not whole, so that
    /// what is erased now could be left in it.
    base::Status all_whole() const;
    /// Ascending.
    std::vector<PartitionView> partitions() const;

    int32_t partition_count() const { return options_.partitions; }  // N
    streaming::PartitionId home_of(const domain::DecisionId& id) const;
    /// nullptr: not owned. Lives as long as the log, as its index does.
    OwnedPartition* owned(streaming::PartitionId partition) const;
    /// What the index has, if it is whole: unavailable "partition_rebuilding".
    base::Result<std::optional<domain::Decision>> look_up(const OwnedPartition& partition,
                                                          const domain::DecisionId& id) const;

    /// Returns whether another node decides for the partition, as far as this one knows.
    bool is_elsewhere(streaming::PartitionId partition) const;
    /// Returns which one; nullopt: not known.
    std::optional<Owner> other_owner(streaming::PartitionId partition) const;
    /// failed_precondition "not_owner", naming the owner.
    base::Error not_owner(streaming::PartitionId partition) const;
    /// Why nothing is decided for the partition now, by its status.
    base::Error refusal(const OwnedPartition& partition, const base::Error& why) const;
    /// Damage that a call has met is the partition's matter, not the client's.
    base::Error unless_rebuilding(streaming::PartitionId partition, const base::Error& why) const;

  private:
    /// What has its turn: a batch, or something to be done while nothing is appended.
    struct Work {
        Batch* batch = nullptr;
        std::function<void()> job{};
        size_t size() const { return batch == nullptr ? 0 : batch->size(); }
    };
    DecisionLog(DecisionLogOptions options, DecisionLogDeps deps);

    base::Status open_partitions();
    base::Status claim_partitions();
    base::Status take(OwnedPartition& partition);
    base::Result<std::optional<AcceptedGap>> accept_gap_of(OwnedPartition& partition,
                                                           streaming::PartitionId which);
    void between_commits(std::function<void()> job);
    std::map<streaming::PartitionId, base::Result<streaming::Offset>> ends_of_owned() const;
    void recover(OwnedPartition& partition);
    void commit(std::span<Work* const> works);
    AppendResult append(const PendingDecisions& pending);
    std::vector<base::Result<streaming::Position>> write(
        std::span<const streaming::Record> records);
    std::vector<base::Result<streaming::Position>> write_to(
        streaming::PartitionId home, std::span<const streaming::Record> records);
    std::vector<base::Result<streaming::Position>> write_by_home(
        std::span<const streaming::Record> records);
    void apply_appended(OwnedPartition& partition, std::span<const streaming::StoredRecord> records,
                        AppendResult& result);

    const DecisionLogOptions options_;
    const DecisionLogDeps deps_;
    std::vector<std::unique_ptr<OwnedPartition>> partitions_;  // by number; null: not owned
    bool partitions_added_ = false;  // to the topic: a key's partition is not the decision's
    Epochs claimed_;
    GroupCommit<Work> commits_;
};

}  // namespace rampart::decision_log
