#include "rampart/joiner/outcome_joiner.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "join_store.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/check.hpp"
#include "rampart/wire/event_codec.hpp"
#include "reducer.hpp"

namespace rampart::joiner {

using base::Error;
using base::Result;
using base::Status;
using base::TimePoint;
using domain::LabeledExample;
using storage::KeyRange;
using storage::Sync;
using streaming::Offset;
using streaming::PartitionId;

namespace {

constexpr size_t kMaturedPerWrite = 1000;
const PartitionId kWholeTopic(-1);

/// Says which measures a store was made for: what decides maturity and what is let in.
std::string digest_of(const domain::Product& product) {
    std::string text;
    for (const auto& measure : product.all_measures()) {
        base::append_field(text, measure.name);
        base::append_f64(text, measure.lo);
        base::append_f64(text, measure.hi);
        base::append_u32(text, static_cast<uint32_t>(measure.horizon_months));
        base::append_i64(text, measure.grace.micros());
    }
    return base::sha256(text).hex();
}

Result<LabeledExample> to_example(const JoinState& state, const Version& version) {
    RAMPART_TRY(auto decision, wire::decode_decision(state.decision));
    return LabeledExample{std::move(decision), version.measure,  version.value,  version.revision,
                          version.matured_at,  version.known_at, version.version};
}

struct Source {
    std::string topic;
    PartitionId partition;
    bool decisions = false;
};

}  // namespace

struct OutcomeJoiner::Impl {
    Impl(JoinerOptions given, const streaming::Reader& from, JoinStore opened)
        : options(std::move(given)),
          reader(from),
          store(std::move(opened)),
          reducer(options.product) {}

    const JoinerOptions options;
    const streaming::Reader& reader;
    const JoinStore store;
    const Reducer reducer;

    std::mutex write_mutex;  // one poll or advance at a time
    size_t turn = 0;         // which source is read first: nobody starves
    std::optional<TimePoint>
        first_pending;  // nothing pending matures earlier; nullopt: nothing pending

    mutable std::mutex mutex;  // guards the two below, which readers copy
    Counts counts;
    std::optional<TimePoint> clock;

    /// What arrives now was not known when the clock was advanced to where it stands.
    TimePoint known_from() const {
        return clock ? *clock + base::Duration::micros(1)
                     : TimePoint::from_micros(std::numeric_limits<int64_t>::min());
    }
    Status check_topic(JoinBatch& batch, const std::string& topic,
                       std::vector<Source>& sources) const;
    Status read(JoinBatch& batch, const Source& source, size_t limit, PollReport& report) const;
    Result<bool> advance_some(TimePoint now, size_t& matured);
    Status commit(JoinBatch& batch, Sync sync);
};

/// Adds the topic's partitions to `sources`, if it is still the topic that was read before.
Status OutcomeJoiner::Impl::check_topic(JoinBatch& batch, const std::string& topic,
                                        std::vector<Source>& sources) const {
    RAMPART_TRY(const int32_t partitions, reader.partitions(topic));
    RAMPART_TRY(const std::string identity, reader.identity(topic));
    RAMPART_TRY(const auto known, store.known_topic(topic));
    if (!known) batch.put_known_topic(topic, {identity, partitions});
    if (known && known->identity != identity) {
        return base::failed_precondition(
            "topic_recreated",
            "topic '{}' is '{}', and '{}' was read before: it was "
            "made anew or the log is another; give the joiner a new folder, or "
            "restore the topic",
            topic, identity, known->identity);
    }
    if (known && known->partitions != partitions) {
        return base::failed_precondition("partitions_changed",
                                         "topic '{}' has {} partitions, and had {}; give "
                                         "the joiner a new folder, which replays the log",
                                         topic, partitions, known->partitions);
    }
    for (int32_t p = 0; p < partitions; ++p) {
        sources.push_back({topic, PartitionId(p), topic == options.decisions_topic});
    }
    return base::ok();
}

/// Applies up to `limit` records of a partition. A partition that stops is in the report; an error
/// is ours.
Status OutcomeJoiner::Impl::read(JoinBatch& batch, const Source& source, size_t limit,
                                 PollReport& report) const {
    const auto stop = [&](const Error& why) {
        report.stopped.push_back({source.topic, source.partition, why});
    };
    RAMPART_TRY(const Offset start, store.next_offset(source.topic, source.partition));
    const auto records = reader.read(source.topic, source.partition, start, limit);
    if (!records) {
        stop(records.error());
        return base::ok();
    }
    Offset next = start;
    for (const auto& record : *records) {
        if (record.offset != next || record.partition != source.partition) {
            stop(base::data_loss(
                "offset_gap", "topic '{}', partition {}: offset {} came where {} was due",
                source.topic, source.partition.value(), record.offset.value(), next.value()));
            break;
        }
        RAMPART_TRY(const auto why, source.decisions
                                        ? reducer.decision(batch, record.record, known_from())
                                        : reducer.outcome(batch, record.record, known_from()));
        if (why) {
            batch.put_quarantined(source.topic, record, *why);
            ++report.quarantined;
        }
        next = Offset(next.value() + 1);
        ++report.records;
    }
    if (next != start) batch.put_next_offset(source.topic, source.partition, next);
    return base::ok();
}

Status OutcomeJoiner::Impl::commit(JoinBatch& batch, Sync sync) {
    RAMPART_RETURN_IF_ERROR(batch.commit(sync));
    const std::lock_guard lock(mutex);
    counts = batch.counts();
    return base::ok();
}

OutcomeJoiner::OutcomeJoiner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OutcomeJoiner::~OutcomeJoiner() = default;

Result<std::unique_ptr<OutcomeJoiner>> OutcomeJoiner::open(const std::filesystem::path& folder,
                                                           JoinerOptions options,
                                                           const streaming::Reader& reader) {
    RAMPART_RETURN_IF_ERROR(domain::validate(options.product));
    if (options.decisions_topic == options.outcomes_topic) {
        return base::invalid_argument("bad_topic",
                                      "decisions and outcomes are both read from topic '{}'",
                                      options.decisions_topic);
    }
    RAMPART_TRY(auto store, JoinStore::open(folder, digest_of(options.product)));
    auto impl = std::make_unique<Impl>(std::move(options), reader, std::move(store));
    RAMPART_TRY(impl->counts, impl->store.counts());
    RAMPART_TRY(impl->clock, impl->store.clock());
    RAMPART_TRY(impl->first_pending, impl->store.first_pending());
    return std::unique_ptr<OutcomeJoiner>(new OutcomeJoiner(std::move(impl)));
}

Result<PollReport> OutcomeJoiner::poll(size_t limit) {
    RAMPART_CHECK(limit >= 1, "poll(0)");
    const std::lock_guard lock(impl_->write_mutex);
    JoinBatch batch(impl_->store, impl_->counts);
    PollReport report;
    std::vector<Source> sources;
    for (const auto& topic : {impl_->options.decisions_topic, impl_->options.outcomes_topic}) {
        const Status fit = impl_->check_topic(batch, topic, sources);
        if (!fit) report.stopped.push_back({topic, kWholeTopic, fit.error()});
    }
    const size_t share = std::max<size_t>(1, limit / std::max<size_t>(1, sources.size()));
    for (size_t i = 0; i < sources.size() && report.records < limit; ++i) {
        const Source& source = sources[(impl_->turn + i) % sources.size()];
        RAMPART_RETURN_IF_ERROR(
            impl_->read(batch, source, std::min(share, limit - report.records), report));
    }
    RAMPART_RETURN_IF_ERROR(impl_->commit(batch, Sync::kAlways));
    ++impl_->turn;
    if (const auto& first = batch.first_pending()) {
        impl_->first_pending = std::min(impl_->first_pending.value_or(*first), *first);
    }
    return report;
}

/// Matures what is due, up to kMaturedPerWrite; false: that was all, and the clock is at `now`.
Result<bool> OutcomeJoiner::Impl::advance_some(TimePoint now, size_t& matured) {
    JoinBatch batch(store, counts);
    size_t due = 0;
    std::optional<TimePoint> next_pending;
    const std::string begin = maturity_key({*first_pending, "", ""});
    // From the first that can be pending on: those before it are gone, but cost time until
    // compaction.
    const auto visit = [&](std::string_view bytes, std::string_view) -> Result<bool> {
        RAMPART_TRY(const auto key, parse_maturity_key(bytes));
        if (key.maturity > now || due == kMaturedPerWrite) {
            next_pending = key.maturity;
            return false;
        }
        RAMPART_RETURN_IF_ERROR(reducer.matured(batch, key));
        ++due;
        return true;
    };
    RAMPART_RETURN_IF_ERROR(store.db().scan(kPending, {begin, ""}, visit));
    const bool more = next_pending && *next_pending <= now;
    if (!more) batch.put_clock(now);
    RAMPART_RETURN_IF_ERROR(commit(batch, due > 0 ? Sync::kAlways : Sync::kNever));
    first_pending = next_pending;
    matured += due;
    return more;
}

Result<size_t> OutcomeJoiner::advance(TimePoint now) {
    const std::lock_guard lock(impl_->write_mutex);
    if (impl_->clock) now = std::max(now, *impl_->clock);
    size_t matured = 0;
    if (impl_->first_pending && *impl_->first_pending <= now) {
        bool more = true;
        while (more) {
            RAMPART_TRY(more, impl_->advance_some(now, matured));
        }
    } else if (impl_->clock != now) {
        JoinBatch batch(impl_->store, impl_->counts);
        batch.put_clock(now);  // nothing depends on it being on the disk before the next example is
        RAMPART_RETURN_IF_ERROR(impl_->commit(batch, Sync::kNever));
    }
    const std::lock_guard clock_lock(impl_->mutex);
    impl_->clock = now;
    return matured;
}

std::optional<TimePoint> OutcomeJoiner::clock() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->clock;
}

Counts OutcomeJoiner::counts() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->counts;
}

Status OutcomeJoiner::examples(std::string_view measure, TimePoint t,
                               const ExampleVisitor& visit) const {
    if (impl_->options.product.find_measure(measure) == nullptr) {
        return base::not_found("unknown_measure", "measure '{}' is not declared by product '{}'",
                               measure, impl_->options.product.name);
    }
    const auto& db = impl_->store.db();
    const auto snapshot = db.snapshot();
    return db.scan(
        kByTime, KeyRange::all(),
        [&](std::string_view key, auto) -> Result<bool> {
            RAMPART_TRY(const auto parsed, parse_time_key(key));
            RAMPART_TRY(const auto state, impl_->store.load(parsed.id, &snapshot));
            if (!state)
                return base::data_loss("corrupt_index", "decision '{}' has no state", parsed.id);
            const Version* version = as_known_at(*state, measure, t);
            if (version == nullptr) return true;
            RAMPART_TRY(const auto example, to_example(*state, *version));
            RAMPART_RETURN_IF_ERROR(visit(example));
            return true;
        },
        &snapshot);
}

Result<std::optional<domain::Decision>> OutcomeJoiner::find_decision(
    const domain::DecisionId& id) const {
    RAMPART_TRY(const auto state, impl_->store.load(id.value(), nullptr));
    if (!state || state->decision.empty()) return std::optional<domain::Decision>();
    RAMPART_TRY(auto decision, wire::decode_decision(state->decision));
    return std::optional(std::move(decision));
}

Result<std::optional<LabeledExample>> OutcomeJoiner::find_example(const domain::DecisionId& id,
                                                                  std::string_view measure) const {
    RAMPART_TRY(const auto state, impl_->store.load(id.value(), nullptr));
    const Version* version = state ? latest(*state, measure) : nullptr;
    if (version == nullptr) return std::optional<LabeledExample>();
    RAMPART_TRY(auto example, to_example(*state, *version));
    return std::optional(std::move(example));
}

Result<base::Digest> OutcomeJoiner::state_hash() const {
    base::Sha256 hash;
    const auto& db = impl_->store.db();
    RAMPART_RETURN_IF_ERROR(
        db.scan(kJoins, KeyRange::all(), [&](auto key, auto value) -> Result<bool> {
            RAMPART_TRY(JoinState state, decode_join_state(value));
            // What depends on when things arrived goes out: only the last version of each measure
            // counts.
            JoinState final{std::move(state.decision), {}, std::move(state.reports), {}};
            for (const auto& version : state.versions) {
                if (&version != latest(state, version.measure)) continue;
                final.versions.push_back(version);
                final.versions.back().version = 0;
                final.versions.back().known_at = {};
            }
            hash.update_field(key);
            hash.update_field(encode(final));
            return true;
        }));
    return hash.finish();
}

Result<std::vector<Dangling>> OutcomeJoiner::list_dangling(size_t limit) const {
    std::vector<Dangling> found;
    if (limit == 0) return found;
    const auto& db = impl_->store.db();
    const auto snapshot = db.snapshot();
    RAMPART_RETURN_IF_ERROR(db.scan(
        kDangling, KeyRange::all(),
        [&](std::string_view id, auto) -> Result<bool> {
            RAMPART_TRY(const auto state, impl_->store.load(id, &snapshot));
            if (!state) return base::data_loss("corrupt_index", "decision '{}' has no state", id);
            Dangling dangling{domain::DecisionId(std::string(id)), {}};
            for (const auto& r : state->reports) {
                dangling.outcomes.push_back(
                    {dangling.decision, r.measure, r.revision, r.value, r.observed_at});
            }
            found.push_back(std::move(dangling));
            return found.size() < limit;
        },
        &snapshot));
    return found;
}

Result<std::vector<Overdue>> OutcomeJoiner::list_overdue(size_t limit) const {
    std::vector<Overdue> found;
    if (limit == 0) return found;
    RAMPART_RETURN_IF_ERROR(
        impl_->store.db().scan(kOverdue, KeyRange::all(), [&](auto key, auto) -> Result<bool> {
            RAMPART_TRY(auto parsed, parse_maturity_key(key));
            found.push_back({domain::DecisionId(parsed.id), parsed.measure, parsed.maturity});
            return found.size() < limit;
        }));
    return found;
}

Result<std::vector<Quarantined>> OutcomeJoiner::list_quarantined(size_t limit) const {
    std::vector<Quarantined> found;
    if (limit == 0) return found;
    RAMPART_RETURN_IF_ERROR(impl_->store.db().scan(
        kQuarantine, KeyRange::all(), [&](auto key, auto value) -> Result<bool> {
            RAMPART_TRY(auto quarantined, decode_quarantined(key, value));
            found.push_back(std::move(quarantined));
            return found.size() < limit;
        }));
    return found;
}

}  // namespace rampart::joiner
