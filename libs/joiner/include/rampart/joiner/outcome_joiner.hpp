#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/labeled_example.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/streaming/reader.hpp"

namespace rampart::joiner {

struct JoinerOptions {
    domain::Product product;  // its measures say what matures, and when
    std::string decisions_topic = "decisions";
    std::string outcomes_topic = "outcomes";
};

/// A partition that poll() could not read on from; the others go on. Tried again at every poll.
struct StoppedPartition {
    std::string topic;
    streaming::PartitionId partition;  // -1: all of the topic's
    // data_loss "retention_gap", "offset_gap"; out_of_range "offset_ahead"; failed_precondition
    // "topic_recreated", "partitions_changed"; the reader's own.
    base::Error error;
};

struct PollReport {
    size_t records = 0;      // read and accounted for, in whatever way
    size_t quarantined = 0;  // of these
    std::vector<StoppedPartition> stopped;
};

/// Totals since the joiner's folder was made, but for the last two.
struct Counts {
    uint64_t decisions = 0;              // distinct
    uint64_t duplicate_decisions = 0;    // same id, same bytes: ignored
    uint64_t conflicting_decisions = 0;  // same id, other bytes: quarantined, the first stays
    uint64_t outcomes = 0;               // distinct reports (decision, measure, revision)
    uint64_t duplicate_outcomes = 0;
    uint64_t conflicting_outcomes = 0;  // same name, other content: quarantined, the first stays
    uint64_t corrections = 0;           // reports beyond the first of their decision and measure
    uint64_t late_outcomes = 0;         // observed or arrived after version 0 of their example
    uint64_t undecodable = 0;           // quarantined: bytes or content make no sense
    uint64_t matured = 0;               // examples with a version 0
    uint64_t corrected = 0;             // versions after the first
    uint64_t dangling = 0;              // now: reports whose decision has not arrived
    uint64_t overdue = 0;               // now: approved and matured, without a value
    bool operator==(const Counts&) const = default;
};

struct Dangling {
    domain::DecisionId decision;
    std::vector<domain::Outcome> outcomes;
};

struct Overdue {
    domain::DecisionId decision;
    std::string measure;
    base::TimePoint matured_at;
};

struct Quarantined {
    std::string topic;
    streaming::PartitionId partition;
    streaming::Offset offset;
    std::string reason;   // machine-readable: "conflicting_decision", "unknown_measure", …
    std::string message;  // for a person
    std::string key, value;
};

/// Joins the decisions and outcomes of a Reader into labelled examples, in a database of its own.
///
/// Records may come in any order, repeated, corrected (a higher revision wins, whatever came
/// first), late (after maturity) or dangling (before or without their decision): all are kept and
/// counted. A record that makes no sense goes to quarantine with its reason and blocks nobody.
/// State, offsets and examples change in one synced write, so a crash at any moment loses nothing
/// and counts nothing twice.
///
/// Knowledge only grows. The clock is the latest `now` of advance(); what arrives after it is known
/// later than it: known_at = max(observed_at, clock + 1 µs) for a report on a matured measure,
/// max(matured_at, clock + 1 µs) for a decision that comes after its own maturity. So examples(m,
/// t), for any t up to the clock, never changes again, and a training set can be built anew for
/// ever.
///
/// One thread polls and advances; any number may call the const methods meanwhile, and see the
/// state after a whole batch.
class OutcomeJoiner {
  public:
    /// `reader` has to outlive the joiner. Both topics have to exist when poll() is called, not
    /// before. Errors: validate(product)'s; storage::Database::open's; failed_precondition
    /// "measures_changed": the folder was made for other measures (remedy: a new folder, which
    /// replays the log).
    static base::Result<std::unique_ptr<OutcomeJoiner>> open(const std::filesystem::path& folder,
                                                             JoinerOptions options,
                                                             const streaming::Reader& reader);
    ~OutcomeJoiner();

    /// Reads up to `limit` (>= 1) records, over all partitions, from where it stopped, and applies
    /// them. records == 0 and nothing stopped: the end of the log, for now; costs no write. An
    /// error means that nothing was applied (the store could not be read or written).
    base::Result<PollReport> poll(size_t limit);

    /// Time is `now`: every (decision, measure) with maturity <= now that has no example yet gets
    /// version 0, with a value or none. Returns the number of these. The clock never goes back: an
    /// earlier `now` counts as the clock's time. Poll first, for what had arrived by `now`.
    base::Result<size_t> advance(base::TimePoint now);
    /// The latest `now`; nullopt: never advanced.
    std::optional<base::TimePoint> clock() const;

    /// Called with each example in turn; an error ends the visit and is passed on.
    using ExampleVisitor = std::function<base::Status(const domain::LabeledExample&)>;
    /// For every decision whose measure is known to have matured at `t`, the last version known at
    /// `t`, ordered by event time of the application, then decision id. not_found
    /// "unknown_measure".
    base::Status examples(std::string_view measure, base::TimePoint t,
                          const ExampleVisitor& visit) const;

    /// nullopt: no such decision (yet).
    base::Result<std::optional<domain::Decision>> find_decision(const domain::DecisionId& id) const;
    /// The last version of an example; nullopt: not matured or no such decision.
    base::Result<std::optional<domain::LabeledExample>> find_example(
        const domain::DecisionId& id, std::string_view measure) const;

    Counts counts() const;

    /// SHA-256 over decisions, reports and the examples' last values. Does not depend on the order
    /// of arrival, repeats, batches of poll(), crashes, nor on when corrections became known. Reads
    /// all.
    base::Result<base::Digest> state_hash() const;

    // Up to `limit` each: by decision id, by maturity, by position.
    base::Result<std::vector<Dangling>> list_dangling(size_t limit) const;
    base::Result<std::vector<Overdue>> list_overdue(size_t limit) const;
    base::Result<std::vector<Quarantined>> list_quarantined(size_t limit) const;

  private:
    struct Impl;
    explicit OutcomeJoiner(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::joiner
