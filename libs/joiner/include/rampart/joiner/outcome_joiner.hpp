#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/labeled_example.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/joiner/decision_row.hpp"
#include "rampart/joiner/join_state.hpp"
#include "rampart/storage/memory_budget.hpp"
#include "rampart/streaming/bookmark.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/wire/quarantined.hpp"

namespace rocksdb {
class Env;
}

namespace rampart::joiner {

inline constexpr int32_t kMaxPartitions = 1024;

struct JoinerOptions {
    domain::Product product;  // its measures say what matures, and when
    std::string decisions_topic = "decisions";
    std::string outcomes_topic = "outcomes";
    /// N, 1 to kMaxPartitions: a decision belongs to partition_of(its id, N). Fixed for a folder.
    int32_t partitions = 1;
    /// Which of them are held here, each once; empty: all; streaming::no_partitions(): none.
    std::vector<streaming::PartitionId> held{};
    std::shared_ptr<storage::MemoryBudget>
        memory{};  // budget of the databases; null: a budget of their own
    std::shared_ptr<rocksdb::Env> environment{};  // theirs, as in storage::OpenOptions
    /// Whether the log's append times are times of the clock that advance() follows. A broker's are
    /// not where event time is replayed.
    bool append_times = true;
    /// Called with decisions whose record can no longer be opened (streaming::Seal::kErased), when
    /// they are read for the first time: another view of the log may have taken them in while it
    /// could. Comes before anything of them is written here, so that after an error, or a crash,
    /// they are read and given again. An error ends the poll.
    std::function<base::Status(std::span<const domain::DecisionId>)> on_unreadable{};
    /// Persons whose outcomes no figure may show: a report that contradicts an earlier one is
    /// counted as one that repeats it, and lies in quarantine as "withheld_outcome"; so is one
    /// whose decision has not arrived. Otherwise a guess would be answered. Null: there are none.
    std::function<bool(const domain::PersonId&)> withheld{};
    /// Asked of each decision before it is taken in; its error says why the decision lies in
    /// quarantine instead: its draw is not that of its key. Null: none is checked.
    std::function<base::Status(const domain::Decision&)> check_draw{};
};

/// Whether what lies in quarantine as "withheld_outcome" is there for the caller.
enum class Withheld { kHidden, kShown };

/// A source that poll() could not read on from; the others go on. Tried again at every poll.
struct StoppedPartition {
    std::string topic;
    streaming::PartitionId partition;  // -1: all of the topic's
    // data_loss "retention_gap", "state_damaged" (of the partition's joined state); out_of_range
    // "offset_ahead"; failed_precondition "topic_recreated", "partitions_changed"; the reader's
    // own.
    base::Error error;
};

/// What accept_gap() did to one source of one held partition.
struct AcceptedGap {
    streaming::PartitionId holder;
    std::string topic;
    streaming::PartitionId partition;  // -1: the topic's identity or number of partitions
    base::Error why;
    streaming::Offset from, to;  // was to be read next, is to be read next
};

struct PollReport {
    size_t records = 0;      // read and accounted for, in whatever way
    size_t quarantined = 0;  // records, among these, that were rejected
    std::vector<StoppedPartition> stopped;
};

/// Up to where poll() reads each source: by topic and partition.
using Ends = std::map<std::pair<std::string, streaming::PartitionId>, streaming::Offset>;

/// Totals since the folder was made, but for those that say "now". Summed over what is held.
struct Counts {
    uint64_t decisions = 0;              // now: distinct, without those erased
    uint64_t duplicate_decisions = 0;    // same id, same bytes: ignored
    uint64_t conflicting_decisions = 0;  // same id, other bytes: quarantined, the first stays
    uint64_t outcomes = 0;               // distinct reports (decision, measure, revision)
    uint64_t duplicate_outcomes = 0;     // also what contradicts, if JoinerOptions::withheld
    uint64_t conflicting_outcomes = 0;   // same name, other content: quarantined, the first stays
    uint64_t corrections = 0;            // reports beyond the first of their decision and measure
    uint64_t late_outcomes = 0;          // observed or arrived after version 0 of their example
    uint64_t undecodable = 0;            // quarantined: bytes or content make no sense
    uint64_t matured = 0;                // now: examples with a version 0, without those erased
    uint64_t corrected = 0;              // versions after the first
    uint64_t unmatched = 0;      // now: reports and overrides whose decision has not arrived
    uint64_t overdue = 0;        // now: granted and matured, without a value, and not censored
    uint64_t fenced = 0;         // records of a writer that had lost the partition: skipped
    uint64_t gaps_accepted = 0;  // by accept_gap()
    uint64_t replayed = 0, dropped = 0;  // out of quarantine
    uint64_t overrides = 0;      // distinct (decision, revision); repeats count as outcomes' do
    uint64_t erased = 0;         // now: decision ids that are erased
    uint64_t ignored = 0;        // what came for them
    uint64_t appended_late = 0;  // by their append time to be known earlier than the clock
    uint64_t sealed = 0, in_clear = 0;  // records of decisions, whether or not they count
    uint64_t foreign_draws = 0;         // quarantined: refused by JoinerOptions::check_draw
    bool operator==(const Counts&) const = default;
};

struct Unmatched {
    domain::DecisionId decision;
    std::vector<domain::Outcome> outcomes;
    std::vector<domain::Override> overrides;
};

struct Overdue {
    domain::DecisionId decision;
    std::string measure;
    base::TimePoint matured_at;
};

using wire::Quarantined;

/// The place of an open review among all: they are in the order of their begin, then id.
struct ReviewPlace {
    base::TimePoint since;
    std::string id;
    auto operator<=>(const ReviewPlace&) const = default;
};

/// How many reviews are open, and since when the oldest is.
struct ReviewQueue {
    uint64_t open = 0;
    std::optional<base::TimePoint> oldest;
};

/// What there is of a person.
struct PersonDecision {
    domain::PersonId person;
    domain::DecisionId decision;
    domain::ApplicationId application;
    base::TimePoint event_time, decided_at;
    bool operator==(const PersonDecision&) const = default;
};

/// A held partition, seen from outside.
struct PartitionState {
    streaming::PartitionId partition;
    base::Digest hash;   // hash of its joined state; see StateHash
    uint64_t fence = 0;  // epoch of its last fence
    std::vector<std::pair<std::string, streaming::Bookmark>> bookmarks;  // "topic/partition"
    Counts counts;  // counts of this partition; a function of the log and the clock, as the hash is
    std::optional<base::TimePoint> clock;  // its own; nullopt: never advanced
};

/// Joins the decisions and outcomes of a Reader into labelled examples, in a database for each
/// partition that is held: folder/P/joins. Decisions are read from the held partitions of their
/// topic; outcomes from all partitions of theirs, since nothing is known of who wrote them: what
/// belongs to no held partition is passed over.
///
/// Records may come in any order, repeated, corrected (a higher revision wins, whatever came
/// first), late (after maturity) or unmatched (before or without their decision): all are kept and
/// counted. An invalid record goes to quarantine with its reason and blocks no other record. A
/// decision by a writer whose epoch is lower than that of a fence before it does not count.
///
/// An erasure, in the topic of decisions, empties the state of its decision for good: what was
/// known goes out of state and indices, what comes later, or is read again, is ignored. So a store
/// that is made anew from the log comes to the same state and the same hash as one that had it all
/// and forgot.
///
/// A partition's state, bookmarks and examples change in one synced write, so a crash at any moment
/// loses nothing and counts nothing twice.
///
/// Knowledge only grows, and the log says when. A record counts as known from 1 µs after its
/// append time on (StoredRecord::appended_at), or from the moment of which it speaks (observed_at,
/// at) if that is later; an example, from its maturity on if that is later than its decision. So
/// examples(m, t) is a function of the log, and the same for every reader, in whatever batches and
/// however late it reads. The clock is the latest `now` of advance(). For any t up to it,
/// examples(m, t) never changes again: what comes later in spite of an earlier append time (which
/// is counted as appended_late) is known from clock + 1 µs on. None does if `now` was taken from
/// the clock by which the log is stamped before poll() took its ends.
///
/// Records of a log of an earlier release have no append time: nothing says when they
/// arrived. Those that come after the clock count as known from clock + 1 µs on, by this reader's
/// clock; when read again from the beginning, from the moment on of which they speak. States of
/// such records, also of one, are left out of the state hash as far as this goes.
///
/// A partition whose database turns out to be damaged is made anew from the log by poll(), while
/// the others go on; until it has been read to its end, figures of all partitions together are
/// refused: unavailable "state_rebuilding", or data_loss "state_damaged" where the log does not
/// have all that it knew.
///
/// One thread polls and advances; any number may call the const methods meanwhile, and see the
/// state after a whole batch.
class OutcomeJoiner {
  public:
    /// `reader` has to outlive the joiner. Both topics have to exist when poll() is called, not
    /// before. Errors: validate(product)'s; storage::Database::open's; failed_precondition
    /// "measures_changed", "other_partition": the folder was made for other measures or another
    /// number of partitions (remedy: a new folder, which replays the log); out_of_range
    /// "bad_partitions".
    static base::Result<std::unique_ptr<OutcomeJoiner>> open(const std::filesystem::path& folder,
                                                             JoinerOptions options,
                                                             const streaming::Reader& reader);
    ~OutcomeJoiner();

    /// Reads up to `limit` (>= 1) records, over all sources, from where it stopped, and applies
    /// them. records == 0 and nothing stopped: the end of the log, for now; costs no write. An
    /// error means that a store could not be read or written; what was not applied is read again.
    /// With `ends`, no source is read beyond the one given for it; of a source that is not among
    /// them, the end as it stands now is added first. So polls with the same `ends`, empty at
    /// first, come to an end, however fast the log grows.
    base::Result<PollReport> poll(size_t limit, Ends* ends = nullptr);

    /// Time is `now`: every (decision, measure) with maturity <= now that has no example yet gets
    /// version 0, with a value or none. Returns the number of these. The clock never goes back: an
    /// earlier `now` counts as the clock's time. Poll after `now` was taken and before this call,
    /// for what had arrived by then. Refused while a partition is not whole.
    ///
    /// Held partitions among `waiting` stay where they are, and so does clock(), which is that of
    /// the slowest: for those whose decisions could not be read, while all outcomes were.
    base::Result<size_t> advance(base::TimePoint now,
                                 const std::set<streaming::PartitionId>& waiting = {});
    /// Goes on where a source stopped for a gap: from the first record that the log has now, or in
    /// the topic as it is now (partition -1). What is lost stays lost; what was read before and
    /// comes again is known by its id. failed_precondition "not_stopped": there is no gap to
    /// accept; the reader's own errors, which are no gaps.
    base::Result<std::vector<AcceptedGap>> accept_gap(std::string_view topic,
                                                      streaming::PartitionId partition);

    /// The latest `now` of all held partitions; nullopt: never advanced.
    std::optional<base::TimePoint> clock() const;

    /// Called with each example in turn; an error ends the visit and is passed on.
    using ExampleVisitor = std::function<base::Status(const domain::LabeledExample&)>;
    /// For every decision whose measure is known to have matured at `t`, the last version known at
    /// `t`, ordered by event time of the application, then decision id; with `from` only those of
    /// that event time or later, which alone are then read. not_found "unknown_measure".
    base::Status examples(std::string_view measure, base::TimePoint t, const ExampleVisitor& visit,
                          std::optional<base::TimePoint> from = std::nullopt) const;

    using RowVisitor = std::function<base::Status(const DecisionRow&)>;
    /// The row of every decision about an application of event time in [from, to), matured or not,
    /// as they are now; ordered as examples are. Costs a small part of what decisions() does, in
    /// memory that does not depend on how many there are. With `behind`, of the time `from` only
    /// those whose id comes after it.
    base::Status rows(base::TimePoint from, base::TimePoint to, RowPart part,
                      const RowVisitor& visit, std::string_view behind = {}) const;
    /// The same from the last to the first. With `before`, also those of the time `to` whose id
    /// comes before it.
    base::Status rows_back(base::TimePoint from, base::TimePoint to, RowPart part,
                           const RowVisitor& visit, std::string_view before = {}) const;

    using DecisionVisitor = std::function<base::Status(const domain::Decision&)>;
    /// Every decision about an application of event time in [from, to), matured or not, as they are
    /// now; ordered as examples are.
    base::Status decisions(base::TimePoint from, base::TimePoint to,
                           const DecisionVisitor& visit) const;

    /// Called with each decision id that has arrived or is erased; an error ends the visit.
    using IdVisitor = std::function<base::Status(const domain::DecisionId& id, bool erased)>;
    /// Those of a held partition, by id.
    base::Status visit_ids(streaming::PartitionId partition, const IdVisitor& visit) const;
    /// Whether it is erased; nullopt: it has not arrived.
    base::Result<std::optional<bool>> is_erased(const domain::DecisionId& id) const;

    /// nullopt: no such decision (yet).
    base::Result<std::optional<domain::Decision>> find_decision(const domain::DecisionId& id) const;

    /// Returns all that is known of a decision id, unmatched reports among it; nullopt: nothing, or
    /// its partition is not held. Refused while a partition is not whole.
    base::Result<std::optional<JoinState>> state_of(const domain::DecisionId& id) const;

    Counts counts() const;
    /// Those of one partition; nullopt: it is not held.
    std::optional<Counts> counts_of(streaming::PartitionId partition) const;

    /// What became of damaged databases.
    struct Upkeep {
        uint64_t set_aside = 0;              // since it was opened
        size_t rebuilding = 0, refused = 0;  // partitions, now
    };
    Upkeep upkeep() const;

    /// SHA-256 over the hashes of the held partitions: decisions, reports, examples and, where all
    /// records say when they were appended, when all of it became known. Does not depend on the
    /// order in which sources are read, repeats, batches of poll(), crashes, nor on when the clock
    /// was advanced. Kept up to date with every write.
    base::Digest state_hash() const;
    base::Result<std::vector<PartitionState>> partition_states() const;

    /// Reads everything and says what does not fit: a hash that is not the states', an index entry
    /// without its state, a state without its entry, totals that do not add up. Empty: all is well.
    base::Result<std::vector<std::string>> check() const;

    /// The decisions about these persons, by partition and decision id.
    base::Result<std::vector<PersonDecision>> decisions_of(
        std::span<const domain::PersonId> persons) const;
    /// After an erasure was read: when it returns, what was erased of these decisions of a person,
    /// or dropped from quarantine, is in none of the files any more; but for the decision ids and
    /// times in the indices by maturity, which go within a week. `known`: what decisions_of() said
    /// of them before; for one that is not among these, all rows are rewritten.
    /// failed_precondition "snapshot_held": a reader is active; call it again.
    base::Status compact_erased(const domain::PersonId& person,
                                std::span<const domain::DecisionId> decisions,
                                std::span<const PersonDecision> known = {});

    // Up to `limit` each: by decision id, by maturity, by position.
    base::Result<std::vector<Unmatched>> list_unmatched(size_t limit) const;
    base::Result<std::vector<Overdue>> list_overdue(size_t limit) const;
    base::Result<std::vector<Quarantined>> list_quarantined(
        size_t limit, Withheld withheld = Withheld::kHidden) const;

    /// Returns up to `limit` open reviews, oldest first; with `after` those behind that place.
    base::Result<std::vector<OpenReview>> list_reviews(
        size_t limit, const std::optional<ReviewPlace>& after = std::nullopt) const;
    /// Costs a read of all keys of open reviews.
    base::Result<ReviewQueue> review_queue() const;

    /// Called with each record in turn; an error ends the visit and is passed on.
    using QuarantineVisitor = std::function<base::Status(const Quarantined&)>;
    /// All that lies in quarantine, withheld or not, one record in memory at a time.
    base::Status visit_quarantined(const QuarantineVisitor& visit) const;

    /// Number of records of the decisions' topic, with times up to `t`, that lie in quarantine, or
    /// were dropped from it, and are not known by another record of the same decision.
    base::Result<size_t> unread_decisions(base::TimePoint t) const;

    /// Applies a record of the quarantine again, as a newer version or configuration may be able
    /// to; nullopt: it is applied and out of quarantine; otherwise why it stays. not_found
    /// "not_quarantined".
    base::Result<std::optional<base::Error>> replay_quarantined(
        std::string_view topic, streaming::PartitionId partition, streaming::Offset offset,
        Withheld withheld = Withheld::kHidden);
    /// Takes all records that match out of quarantine for good, withheld or not, in as many writes
    /// as it takes.
    base::Status drop_quarantined_if(const std::function<bool(const Quarantined&)>& matches);
    /// Drops a record for good; unread_decisions() counts it on. not_found "not_quarantined".
    base::Status drop_quarantined(std::string_view topic, streaming::PartitionId partition,
                                  streaming::Offset offset, Withheld withheld = Withheld::kHidden);

  private:
    struct Impl;
    explicit OutcomeJoiner(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::joiner
