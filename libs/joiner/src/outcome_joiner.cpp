#include "rampart/joiner/outcome_joiner.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <thread>

#include "examples_by_time.hpp"
#include "listings.hpp"
#include "outcome_joiner_impl.hpp"
#include "person_decisions.hpp"
#include "rampart/base/check.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming/source_checks.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rows_by_time.hpp"
#include "store_check.hpp"

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

/// `taken`: what people did, as far as it counts here; nullptr: nothing.
Result<LabeledExample> to_example(const JoinState& state, const Version& version,
                                  const TakenAction* taken) {
    RAMPART_TRY(auto decision, wire::decode_decision(state.decision));
    LabeledExample example{std::move(decision), version.measure,  version.value,  version.revision,
                           version.matured_at,  version.known_at, version.version};
    example.censored = version.censored;
    if (taken != nullptr) example.overridden = to_override(*taken, example.decision.id);
    return example;
}

/// All that came for the first time.
uint64_t events(const Counts& counts) {
    return counts.decisions + counts.outcomes + counts.overrides;
}

/// Counts a record of the topic of decisions, if it is one.
void count_seal(Counts& counts, const streaming::StoredRecord& stored) {
    const auto& record = stored.record;
    if (stored.seal != streaming::Seal::kNone) {
        ++counts.sealed;
    } else if (!record.value.empty() && wire::check_schema(record, wire::kDecisionSchema)) {
        ++counts.in_clear;
    }
}

}  // namespace

/// Position in `partitions` of the one that a decision id belongs to; their number: not held.
size_t OutcomeJoiner::Impl::home_of(std::string_view decision_id) const {
    const auto id = streaming::partition_of(decision_id, options.partitions);
    const auto it = std::lower_bound(held.begin(), held.end(), id);
    return it != held.end() && *it == id ? static_cast<size_t>(it - held.begin()) : held.size();
}

/// Adds the topic's partitions that are to be read to `sources`, if it is still the topic that was
/// read before.
Status OutcomeJoiner::Impl::check_topic(Round& round, const std::string& topic,
                                        std::vector<Source>& sources) const {
    RAMPART_TRY(const int32_t count, reader.partitions(topic));
    RAMPART_TRY(const std::string identity, reader.identity(topic));
    const bool decisions = topic == options.decisions_topic;
    if (decisions && count < options.partitions) {
        return base::make_error(streaming::Reason::kPartitionsChanged,
                                "topic '{}' has {} partitions, and {} are configured", topic, count,
                                options.partitions);
    }
    for (size_t i = 0; i < partitions.size(); ++i) {
        if (is_out(i)) continue;
        RAMPART_TRY(const auto known, partitions[i]->store().known_topic(topic));
        if (!known) round.batches[i].put_known_topic(topic, {identity, count});
        if (known && known->identity != identity) {
            return base::make_error(
                streaming::Reason::kTopicRecreated,
                "topic '{}' is '{}', and '{}' was read before: the log is another", topic, identity,
                known->identity);
        }
        if (known && known->partitions != count) {
            return base::make_error(streaming::Reason::kPartitionsChanged,
                                    "topic '{}' has {} partitions, and had {}", topic, count,
                                    known->partitions);
        }
    }
    if (decisions) {
        for (size_t i = 0; i < held.size(); ++i) {
            if (!is_out(i)) sources.push_back({topic, held[i], true});
        }
    } else {
        for (int32_t p = 0; p < count; ++p) sources.push_back({topic, PartitionId(p), false});
    }
    return base::ok();
}

/// Side by side, for the partitions share nothing: each has its states and bookmarks in one write.
Status OutcomeJoiner::Impl::commit(Round& round) {
    std::vector<Status> written(round.batches.size());
    writers->run(round.batches.size(), [&](size_t i) {
        written[i] = partitions[i]->commit(round.batches[i], Sync::kAlways);
    });
    for (Status& status : written) RAMPART_RETURN_IF_ERROR(std::move(status));
    return base::ok();
}

/// Positions in `partitions` of those that the source is read for, each compared with its bookmark.
Result<std::vector<size_t>> OutcomeJoiner::Impl::readers_of(const Source& source) const {
    std::vector<size_t> readers;
    streaming::SourceChecks checks(reader);
    for (size_t i = 0; i < partitions.size(); ++i) {
        if (!reads(i, source)) continue;
        readers.push_back(i);
        if (partitions[i]->is_verified(source)) continue;
        RAMPART_TRY(const auto mark, partitions[i]->bookmark(source));
        RAMPART_RETURN_IF_ERROR(checks.check(source.topic, source.partition, mark));
        partitions[i]->note_verified(source);
    }
    return readers;
}

void OutcomeJoiner::Impl::stop(Round& round, const Source& source, const Error& why) const {
    for (const auto& partition : partitions) partition->forget(source);
    round.report.stopped.push_back({source.topic, source.partition, why});
}

/// Puts an end among `ends` for each source that has none yet. A source without one stops, and is
/// taken out.
void OutcomeJoiner::Impl::find_ends(Round& round, std::vector<Source>& sources, Ends& ends) const {
    std::map<std::string, std::vector<PartitionId>> wanted;
    for (const Source& source : sources) {
        if (!ends.contains({source.topic, source.partition}))
            wanted[source.topic].push_back(source.partition);
    }
    std::map<Ends::key_type, Error> missing;
    for (const auto& [topic, places] : wanted) {
        const auto found = reader.end_offsets(topic, places);
        for (size_t i = 0; i < places.size(); ++i) {
            const Ends::key_type key(topic, places[i]);
            if (found[i]) ends.emplace(key, *found[i]);
            if (!found[i]) missing.emplace(key, found[i].error());
        }
    }
    std::erase_if(sources, [&](const Source& source) {
        const auto why = missing.find({source.topic, source.partition});
        if (why != missing.end()) stop(round, source, why->second);
        return why != missing.end();
    });
}

/// Lets the log fetch at once what the reads of all sources begin with: the record before a
/// position that was not compared yet, or the first that is new. What fails here fails there.
void OutcomeJoiner::Impl::prefetch(const std::vector<Source>& sources, const Ends& ends) const {
    std::map<std::string, std::vector<streaming::Position>> wanted;
    for (const Source& source : sources) {
        Offset first = ends.at({source.topic, source.partition});
        for (size_t i = 0; i < partitions.size(); ++i) {
            if (!reads(i, source)) continue;
            const auto mark = partitions[i]->bookmark(source);
            if (!mark) continue;
            const bool compared = mark->digest.empty() || partitions[i]->is_verified(source);
            first = std::min(first, compared ? mark->next : Offset(mark->next.value() - 1));
        }
        if (first < ends.at({source.topic, source.partition}))
            wanted[source.topic].push_back({source.partition, first});
    }
    for (const auto& [topic, from] : wanted) reader.prefetch(topic, from);
}

/// Applies up to `limit` records of a source. One that stops is in the report; an error is ours.
Status OutcomeJoiner::Impl::read(Round& round, const Source& source, size_t limit,
                                 const Ends* ends) const {
    auto readers = readers_of(source);
    if (!readers) {
        stop(round, source, readers.error());
        return base::ok();
    }
    // those that are whole do not wait until one that is made anew stands where they do
    const auto anew = std::stable_partition(readers->begin(), readers->end(),
                                            [&](size_t i) { return !partitions[i]->rebuilding(); });
    RAMPART_TRY(const bool goes_on, read_for(round, source, {readers->begin(), anew}, limit, ends));
    if (!goes_on) return base::ok();
    return read_for(round, source, {anew, readers->end()}, limit, ends).map([](bool) {});
}

/// The same for some of the partitions; false: the source has stopped.
Result<bool> OutcomeJoiner::Impl::read_for(Round& round, const Source& source,
                                           const std::vector<size_t>& readers, size_t limit,
                                           const Ends* ends) const {
    const Offset beyond(std::numeric_limits<int64_t>::max());
    std::vector<Offset> next(partitions.size(), beyond);
    Offset start = beyond;
    for (const size_t i : readers) {
        RAMPART_TRY(const auto bookmark, partitions[i]->bookmark(source));
        next[i] = bookmark.next;
        start = std::min(start, next[i]);
    }
    const Offset end = ends == nullptr ? beyond : ends->at({source.topic, source.partition});
    if (readers.empty() || start == end) return true;
    if (start < end) limit = std::min(limit, static_cast<size_t>(end.value() - start.value()));
    // past the end the reader says what is wrong
    auto records = reader.read(source.topic, source.partition, start, limit);
    if (!records) {
        stop(round, source, records.error());
        return false;
    }
    std::erase_if(*records, [&](const auto& stored) { return stored.offset >= end; });
    if (records->empty()) return true;
    for (const auto& record : *records) RAMPART_RETURN_IF_ERROR(apply(round, source, record, next));
    round.report.records += records->size();
    const auto bookmark = streaming::bookmark_after(records->back());
    for (const size_t i : readers) {
        if (next[i] < bookmark.next) round.batches[i].put_bookmark(source, bookmark);
    }
    return true;
}

/// One record, for the held partition that it belongs to, unless that is further already.
Status OutcomeJoiner::Impl::apply(Round& round, const Source& source,
                                  const streaming::StoredRecord& stored,
                                  const std::vector<Offset>& next) const {
    size_t home = 0;
    std::optional<Result<wire::OutcomeEvent>> event;
    if (source.decisions) {
        while (held[home] != source.partition) ++home;
    } else {
        // what cannot be decoded goes to quarantine where its key belongs
        event = wire::decode_outcome_event(stored.record);
        home = home_of(*event ? wire::decision_of(**event).value() : stored.record.key);
    }
    if (home == partitions.size() || stored.offset < next[home]) return base::ok();
    JoinBatch& batch = round.batches[home];
    if (stored.seal == streaming::Seal::kErased) {
        RAMPART_TRY(const JoinState* state, batch.load(stored.record.key));
        if (!state->erased) round.unreadable.emplace_back(stored.record.key);
    }
    if (source.decisions) count_seal(batch.counts(), stored);
    bool late = false;
    const Arrival arrival =
        partitions[home]->arrival(options.append_times ? stored.appended_at : std::nullopt, &late);
    const uint64_t before = events(batch.counts());
    RAMPART_TRY(const auto why,
                event ? reduce_event(batch, *partitions[home], *event, arrival)
                      : reduce(batch, *partitions[home], true, stored.record, arrival));
    if (late) batch.counts().appended_late += events(batch.counts()) - before;
    if (!why) return base::ok();
    batch.put_quarantined(source.topic, stored, *why);
    ++round.report.quarantined;
    return base::ok();
}

Result<std::optional<Error>> OutcomeJoiner::Impl::reduce(JoinBatch& batch,
                                                         const PartitionJoiner& partition,
                                                         bool decision,
                                                         const streaming::Record& record,
                                                         Arrival arrival) const {
    if (decision) return partition.reducer().decision(batch, record, arrival);
    return reduce_event(batch, partition, wire::decode_outcome_event(record), arrival);
}

Result<std::optional<Error>> OutcomeJoiner::Impl::reduce_event(
    JoinBatch& batch, const PartitionJoiner& partition, const Result<wire::OutcomeEvent>& event,
    Arrival arrival) const {
    const Status sound = event ? check_event(options.product, *event) : Status(event.error());
    if (sound) return partition.reducer().event(batch, *event, arrival);
    ++batch.counts().undecodable;
    return std::optional(sound.error());
}

OutcomeJoiner::OutcomeJoiner(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
OutcomeJoiner::~OutcomeJoiner() = default;

Result<std::unique_ptr<OutcomeJoiner>> OutcomeJoiner::open(const std::filesystem::path& folder,
                                                           JoinerOptions options,
                                                           const streaming::Reader& reader) {
    RAMPART_RETURN_IF_ERROR(domain::validate(options.product));
    if (options.decisions_topic == options.outcomes_topic) {
        return base::make_error(streaming::Reason::kBadTopic,
                                "decisions and outcomes are both read from topic '{}'",
                                options.decisions_topic);
    }
    auto impl = std::make_unique<Impl>(std::move(options), reader);
    RAMPART_TRY(impl->held, held_of(impl->options.partitions, impl->options.held));
    const std::string measures = digest_of(impl->options.product);
    for (const PartitionId id : impl->held) {
        const auto path = folder / std::to_string(id.value()) / "joins";
        std::error_code failure;  // storage says what is wrong with the path
        std::filesystem::create_directories(path.parent_path(), failure);
        RAMPART_TRY(
            auto partition,
            PartitionJoiner::open(path, impl->options, {measures, id, impl->options.partitions}));
        impl->partitions.push_back(std::move(partition));
    }
    impl->writers = std::make_unique<base::ThreadPool>(std::max<size_t>(
        1, std::min<size_t>(impl->held.size(), std::thread::hardware_concurrency())));
    return std::unique_ptr<OutcomeJoiner>(new OutcomeJoiner(std::move(impl)));
}

Result<size_t> OutcomeJoiner::advance(TimePoint now, const std::set<PartitionId>& waiting) {
    const std::lock_guard lock(impl_->write_mutex);
    RAMPART_RETURN_IF_ERROR(impl_->all_whole(waiting));
    const auto before = clock();
    if (before) now = std::max(now, *before);
    impl_->publish_clock(before);  // until all partitions are there
    size_t matured = 0, left = 0;
    for (const auto& partition : impl_->partitions) {
        if (waiting.contains(partition->id())) {
            ++left;
            continue;
        }
        RAMPART_TRY(const size_t n, partition->advance(now));
        matured += n;
    }
    if (left == 0) impl_->publish_clock(now);
    return matured;
}

void OutcomeJoiner::Impl::publish_clock(std::optional<TimePoint> time) {
    const std::lock_guard lock(clock_mutex);
    reached = time;
    published = true;
}

std::optional<TimePoint> OutcomeJoiner::clock() const {
    {
        const std::lock_guard lock(impl_->clock_mutex);
        if (impl_->published) return impl_->reached;
    }
    std::optional<TimePoint> reached;
    for (const auto& partition : impl_->partitions) {
        const auto one = partition->clock();  // one that is new, or made anew, has none
        if (one) reached = std::min(reached.value_or(*one), *one);
    }
    return reached;
}

std::optional<Counts> OutcomeJoiner::counts_of(PartitionId partition) const {
    const auto it = std::lower_bound(impl_->held.begin(), impl_->held.end(), partition);
    if (it == impl_->held.end() || *it != partition) return std::nullopt;
    return impl_->partitions[static_cast<size_t>(it - impl_->held.begin())]->counts();
}

Counts OutcomeJoiner::counts() const {
    Counts total;
    for (const auto& partition : impl_->partitions) add(total, partition->counts());
    return total;
}

/// Returns the stores of all partitions. Errors: unknown_measure; that of a partition that is not
/// whole.
Result<std::vector<const JoinStore*>> OutcomeJoiner::Impl::stores_to_read(
    std::initializer_list<std::string_view> measures) const {
    for (const auto measure : measures) {
        if (options.product.find_measure(measure) != nullptr) continue;
        return base::make_error(Reason::kUnknownMeasure,
                                "measure '{}' is not declared by product '{}'", measure,
                                options.product.name);
    }
    RAMPART_RETURN_IF_ERROR(all_whole({}));
    std::vector<const JoinStore*> stores;
    for (const auto& partition : partitions) stores.push_back(&partition->store());
    return stores;
}

Status OutcomeJoiner::examples(std::string_view measure, TimePoint t, const ExampleVisitor& visit,
                               std::optional<TimePoint> from) const {
    RAMPART_TRY(const auto stores, impl_->stores_to_read({measure}));
    return visit_by_time(stores, from, [&](const JoinState& state) -> Status {
        const Version* version = as_known_at(state, measure, t);
        if (version == nullptr) return base::ok();
        RAMPART_TRY(const auto example, to_example(state, *version, taken_as_known_at(state, t)));
        return visit(example);
    });
}

Status OutcomeJoiner::rows(TimePoint from, TimePoint to, RowPart part, const RowVisitor& visit,
                           std::string_view behind) const {
    RAMPART_TRY(const auto stores, impl_->stores_to_read({}));
    auto begin = time_key(from, behind);
    if (!behind.empty()) begin += '\0';
    return visit_rows(stores, begin, time_key(to, ""), part, RowOrder::kFirstToLast, visit);
}

Status OutcomeJoiner::rows_back(TimePoint from, TimePoint to, RowPart part, const RowVisitor& visit,
                                std::string_view before) const {
    RAMPART_TRY(const auto stores, impl_->stores_to_read({}));
    return visit_rows(stores, time_key(from, ""), time_key(to, before), part,
                      RowOrder::kLastToFirst, visit);
}

Status OutcomeJoiner::decisions(TimePoint from, TimePoint to, const DecisionVisitor& visit) const {
    RAMPART_TRY(const auto stores, impl_->stores_to_read({}));
    return visit_by_time(stores, from, [&](const JoinState& state) -> Status {
        if (state.decision.empty()) return base::ok();
        RAMPART_TRY(const auto decision, wire::decode_decision(state.decision));
        return decision.application.event_time < to ? visit(decision) : base::ok();
    });
}

Result<std::optional<JoinState>> OutcomeJoiner::Impl::load(std::string_view id) const {
    const size_t home = home_of(id);
    if (home == partitions.size()) return std::optional<JoinState>();
    return partitions[home]->store().load(id, nullptr);
}

Result<std::optional<domain::Decision>> OutcomeJoiner::find_decision(
    const domain::DecisionId& id) const {
    RAMPART_TRY(const auto state, impl_->load(id.value()));
    if (!state || state->decision.empty()) return std::optional<domain::Decision>();
    RAMPART_TRY(auto decision, wire::decode_decision(state->decision));
    return std::optional(std::move(decision));
}

Result<std::optional<JoinState>> OutcomeJoiner::state_of(const domain::DecisionId& id) const {
    RAMPART_RETURN_IF_ERROR(impl_->all_whole({}));
    return impl_->load(id.value());
}

Result<std::optional<bool>> OutcomeJoiner::is_erased(const domain::DecisionId& id) const {
    RAMPART_TRY(const auto state, impl_->load(id.value()));
    if (!state || (!state->erased && state->decision.empty())) return std::optional<bool>();
    return std::optional(state->erased);
}

Status OutcomeJoiner::visit_ids(PartitionId id, const IdVisitor& visit) const {
    const auto at = std::lower_bound(impl_->held.begin(), impl_->held.end(), id);
    RAMPART_CHECK(at != impl_->held.end() && *at == id, "partition {} is not held", id);
    const auto& store = impl_->partitions[static_cast<size_t>(at - impl_->held.begin())]->store();
    return store.db().scan(kJoins, KeyRange::all(), [&](auto key, auto value) -> Result<bool> {
        RAMPART_TRY(const auto state, decode_join_state(value));
        if (!state.erased && state.decision.empty()) return true;
        RAMPART_RETURN_IF_ERROR(visit(domain::DecisionId(std::string(key)), state.erased));
        return true;
    });
}

base::Digest OutcomeJoiner::state_hash() const {
    base::Sha256 hash;
    for (const auto& partition : impl_->partitions) {
        hash.update_field(std::to_string(partition->id().value()));
        hash.update_field(partition->hash().value().hex());
    }
    return hash.finish();
}

Result<std::vector<PartitionState>> OutcomeJoiner::partition_states() const {
    std::vector<PartitionState> states;
    for (const auto& partition : impl_->partitions) {
        PartitionState state{partition->id(),     partition->hash().value(), partition->fence(), {},
                             partition->counts(), partition->clock()};
        auto bookmarks = partition->store().bookmarks();
        if (!bookmarks && partition->store().db().damage()) return bookmarks.error();
        if (bookmarks) state.bookmarks = *std::move(bookmarks);
        states.push_back(std::move(state));
    }
    return states;
}

Result<std::vector<std::string>> OutcomeJoiner::check() const {
    std::vector<std::string> problems;
    for (const auto& partition : impl_->partitions) {
        RAMPART_TRY(auto found, check_store(partition->store()));
        for (auto& problem : found) {
            problems.push_back(fmt::format("partition {}: {}", partition->id(), problem));
        }
    }
    return problems;
}

Result<std::vector<PersonDecision>> OutcomeJoiner::decisions_of(
    std::span<const domain::PersonId> persons) const {
    std::vector<PersonDecision> found;
    for (const auto& partition : impl_->partitions) {
        for (const auto& person : persons)
            RAMPART_RETURN_IF_ERROR(find_decisions(partition->store(), person, found));
    }
    return found;
}

Status OutcomeJoiner::compact_erased(const domain::PersonId& person,
                                     std::span<const domain::DecisionId> decisions,
                                     std::span<const PersonDecision> known) {
    std::map<domain::DecisionId, TimePoint> times;
    for (const auto& one : known) times.emplace(one.decision, one.event_time);
    std::vector<std::vector<ErasedDecision>> homes(impl_->partitions.size());
    for (const auto& id : decisions) {
        const size_t home = impl_->home_of(id.value());
        if (home == homes.size()) continue;
        auto& erased = homes[home].emplace_back(ErasedDecision{id.value()});
        if (const auto time = times.find(id); time != times.end()) erased.event_time = time->second;
    }
    for (size_t i = 0; i < homes.size(); ++i) {
        RAMPART_RETURN_IF_ERROR(
            joiner::compact_erased(impl_->partitions[i]->store(), person, homes[i]));
    }
    return base::ok();
}

Result<std::vector<Unmatched>> OutcomeJoiner::list_unmatched(size_t limit) const {
    std::vector<Unmatched> found;
    for (const auto& partition : impl_->partitions) {
        RAMPART_RETURN_IF_ERROR(add_unmatched(partition->store(), limit, found));
    }
    return found;
}

Result<std::vector<Overdue>> OutcomeJoiner::list_overdue(size_t limit) const {
    std::vector<Overdue> found;
    for (const auto& partition : impl_->partitions) {
        RAMPART_RETURN_IF_ERROR(add_overdue(partition->store(), limit, found));
    }
    return first_of(std::move(found), limit);
}

Result<std::vector<OpenReview>> OutcomeJoiner::list_reviews(
    size_t limit, const std::optional<ReviewPlace>& after) const {
    std::vector<OpenReview> found;
    RAMPART_RETURN_IF_ERROR(impl_->all_whole({}));
    for (const auto& partition : impl_->partitions) {
        RAMPART_RETURN_IF_ERROR(add_reviews(partition->store(), limit, after, found));
    }
    RAMPART_RETURN_IF_ERROR(impl_->all_whole({}));  // none was made anew, and empty, meanwhile
    return first_of(std::move(found), limit);
}

Result<ReviewQueue> OutcomeJoiner::review_queue() const {
    ReviewQueue queue;
    RAMPART_RETURN_IF_ERROR(impl_->all_whole({}));
    for (const auto& partition : impl_->partitions) {
        RAMPART_RETURN_IF_ERROR(count_reviews(partition->store(), queue));
    }
    RAMPART_RETURN_IF_ERROR(impl_->all_whole({}));
    return queue;
}

Result<std::vector<Quarantined>> OutcomeJoiner::list_quarantined(size_t limit,
                                                                 Withheld withheld) const {
    std::vector<Quarantined> found;
    for (const auto& partition : impl_->partitions) {
        RAMPART_RETURN_IF_ERROR(add_quarantined(partition->store(), limit, withheld, found));
    }
    return first_of(std::move(found), limit);
}

}  // namespace rampart::joiner
