#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/source_checks.hpp"
#include "rampart/wire/quarantined.hpp"

namespace rampart::decision_log {

struct IndexOptions {
    std::filesystem::path path;  // folder of the database
    std::string decisions_topic;
    streaming::PartitionId partition;
    int32_t partitions = 1;  // N: a decision belongs to partition_of(its id, N)
    std::shared_ptr<storage::MemoryBudget> memory{};
    std::shared_ptr<rocksdb::Env> environment{};  // as in storage::OpenOptions
};

/// Records of the partition, since the index was made.
struct IndexCounts {
    uint64_t decisions = 0;    // distinct
    uint64_t repeated = 0;     // records of a known decision id: the first one stays
    uint64_t fenced = 0;       // records of a writer that had lost the partition
    uint64_t passed_over = 0;  // cannot be read, or belong elsewhere; the joiner quarantines them
    bool operator==(const IndexCounts&) const = default;
};

/// The last mark of a new owner.
struct Fence {
    uint64_t epoch = 0;  // 0: none yet
    std::string node;
    bool operator==(const Fence&) const = default;
};

/// What accept_gap() did.
struct AcceptedGap {
    streaming::PartitionId holder;
    std::string topic;
    streaming::PartitionId partition;  // -1: the topic's identity or number of partitions
    base::Error why;
    streaming::Offset from, to;  // was to be read next, is to be read next
};

using streaming::is_gap;

/// What the decision service has to look up, for one partition: decisions by id, how many explored
/// approvals each day has had, the last fence, and how far the applications have been
/// decided. A view of the log, kept in a database of its own; what a record changes and the
/// bookmark behind it are one write. It may be removed: then it is made anew from the log.
///
/// Records count in the order of the log: a decision whose epoch is lower than that of a fence
/// before it does not, of a decision id the first does, and one that cannot be read, or belongs to
/// another partition, never does. An erasure takes its decision out for good, whatever its epoch.
///
/// Thread safe, but catch_up(), apply() and accept_gap() are called by one thread at a time.
class DecisionIndex {
  public:
    /// Opens or creates; nothing is read yet but its own database. Errors: those of
    /// storage::Database; failed_precondition "other_partition": made for another partition or
    /// number of partitions. Damage is no error here, but in damage(). The reader
    /// has to outlive it.
    static base::Result<std::unique_ptr<DecisionIndex>> open(IndexOptions options,
                                                             const streaming::Reader& reader);

    /// nullopt: no such decision. failed_precondition "erased".
    base::Result<std::optional<domain::Decision>> find(const domain::DecisionId& id) const;
    /// Persons with explored approvals that were decided that day (base::day_of of decided_at).
    base::Result<uint64_t> explored_on(int64_t day) const;
    /// Reads everything and says what does not fit: a decision that cannot be read, is under
    /// another id or belongs to another partition; totals and explored approvals that do not add
    /// up; explanations of decisions that are erased or not there. Empty: all is well. While
    /// nothing is written.
    base::Result<std::vector<std::string>> check() const;
    /// Returns how many writes have erased decisions since it was opened: when that is another
    /// number, what was read before may hold who is erased.
    uint64_t erasing_writes() const { return erasing_writes_; }
    /// Called with each decision id in turn, by id; an error ends the visit. What is taken in
    /// meanwhile may be visited or not.
    using IdVisitor = std::function<base::Status(const domain::DecisionId& id, bool erased)>;
    base::Status visit_ids(const IdVisitor& visit) const;
    /// What was worked out of a decision after it was made, as its maker wrote it, on the disk.
    /// nullopt: nothing is kept.
    base::Result<std::optional<std::string>> explanation(const domain::DecisionId& id) const;
    struct Explanation {
        domain::DecisionId decision;
        std::string bytes;
    };
    /// Keeps them in one synced write, until their decisions are erased or the index is made anew.
    /// The first of a decision stays; for one that is not here, or erased, none is kept. Any
    /// thread; an index that takes in decisions does not wait for it but in storage, an erasure
    /// does.
    base::Status keep_explanations(std::span<const Explanation> explanations);
    Fence fence() const;
    IndexCounts counts() const;
    streaming::PartitionId partition() const { return options_.partition; }
    /// The record of the topic of decisions that is read next. By the thread that may read it.
    streaming::Offset next() const { return next_.next; }

    /// Reads the log from where the index stands to its end; the first time, and after an error, it
    /// compares the log with the bookmark before. Errors: is_gap(); those of Reader and storage.
    base::Status catch_up();
    /// The same for up to `limit` records (>= 1). true: it stands at the log's end.
    base::Result<bool> catch_up_some(size_t limit);

    /// ok, or why renew() has to be called before anything else.
    base::Status damage() const { return database_->damage(); }
    /// Sets a damaged index aside and begins an empty one, to be read from the log's beginning.
    /// data_loss "state_damaged": the log does not have all that was read before, so that decisions
    /// would be forgotten. Those of storage::DerivedDatabase::renew.
    base::Status renew();
    /// How many were set aside since it was opened.
    uint64_t set_aside() const { return database_->set_aside(); }

    /// Takes in records of this partition that were just appended, in their order. true: nothing
    /// had come before or between them, and all of them count. false: the log was read to its end
    /// instead, and find() says which of them count.
    base::Result<bool> apply(std::span<const streaming::StoredRecord> records);

    /// How far a partition of the applications has been decided for this one. nullopt: not yet.
    base::Result<std::optional<streaming::Bookmark>> bookmark(std::string_view topic,
                                                              streaming::PartitionId source) const;
    /// Compares the topic and the bookmark with what the log has. Errors: is_gap(), Reader's.
    base::Status check_source(std::string_view topic, streaming::PartitionId source,
                              streaming::SourceChecks& checks);
    using Bookmarks = std::map<streaming::PartitionId, streaming::Bookmark>;
    /// In one write: how far each source has been decided, and what of it made no sense. Unless it
    /// is synced, a power cut may take it, and what was put before.
    base::Status put_progress(std::string_view topic, const Bookmarks& marks,
                              std::span<const wire::Quarantined> quarantined = {},
                              storage::Sync sync = storage::Sync::kNever);
    base::Result<std::vector<wire::Quarantined>> quarantined(size_t limit) const;  // by position
    /// All that lies in quarantine, by position, one record in memory at a time, until `visit`
    /// returns false.
    base::Status visit_quarantined(
        const std::function<base::Result<bool>(wire::Quarantined)>& visit) const;
    base::Result<std::optional<wire::Quarantined>> find_quarantined(
        std::string_view topic, streaming::PartitionId partition, streaming::Offset offset) const;
    base::Status drop_quarantined(const wire::Quarantined& one);
    /// Takes all that match out of quarantine, in as many writes as it takes.
    base::Status drop_quarantined_if(const std::function<bool(const wire::Quarantined&)>& matches);
    /// When it returns, what was erased of these decisions, or dropped from quarantine, is in none
    /// of the files. failed_precondition "snapshot_held".
    base::Status compact_erased(std::span<const domain::DecisionId> decisions);
    /// The same for everything that was erased; reads and writes all that there is.
    base::Status compact_erased();

    /// After a gap, goes on from the first record that the topic's partition has now: that of the
    /// decisions, or a source of applications; for partition -1, in the topic as it is now. What
    /// was lost stays lost; what was read before stays too. nullopt: there is no gap. Errors: a gap
    /// of the whole topic, when only a partition's is accepted; decisions with fewer partitions
    /// than configured; the reader's own, which are no gaps.
    base::Result<std::optional<AcceptedGap>> accept_gap(std::string_view topic,
                                                        streaming::PartitionId partition);

  private:
    struct Changes;
    struct Topic {
        std::string identity;
        int32_t partitions = 0;
    };
    DecisionIndex(IndexOptions options, const streaming::Reader& reader,
                  std::unique_ptr<storage::DerivedDatabase> database);
    base::Status load();
    base::Status check_log_is_whole() const;
    base::Error cannot_be_made_anew(const std::string& why) const;
    base::Status recount_explored();
    base::Result<std::optional<Topic>> known_topic(std::string_view topic) const;
    base::Result<Topic> topic_now(std::string_view topic) const;
    base::Status check_topic(std::string_view topic);
    static void put_topic(storage::WriteBatch& batch, std::string_view topic, const Topic& now);
    base::Result<std::optional<AcceptedGap>> accept_topic(std::string_view topic,
                                                          const base::Error& why);
    base::Status check(std::string_view topic, streaming::PartitionId partition,
                       streaming::SourceChecks& checks);
    base::Status check_explanations(const std::function<void(std::string)>& problem) const;
    base::Result<bool> index(std::span<const streaming::StoredRecord> records);
    base::Result<bool> index_one(const streaming::StoredRecord& stored, Changes& changes) const;

    const IndexOptions options_;
    const streaming::Reader& reader_;
    const std::unique_ptr<storage::DerivedDatabase> database_;
    streaming::Bookmark next_;  // bookmark in the topic of decisions
    bool verified_ = false;     // the log was compared with next_, and nothing failed since

    std::atomic<uint64_t> erasing_writes_ = 0;
    std::mutex explaining_;     // no erasure comes between a look at a decision and its explanation
    mutable std::mutex mutex_;  // guards what follows for those who only look
    Fence fence_;
    IndexCounts counts_;
};

}  // namespace rampart::decision_log
