#include "join_store.hpp"

#include <algorithm>
#include <array>

#include "rampart/base/bytes.hpp"
#include "rampart/joiner/reasons.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rows_by_time.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::TimePoint;

constexpr size_t kStatesPerStep = 10'000, kBytesPerStep = 4u << 20;

constexpr std::string_view kMeasuresKey = "measures", kPartitionKey = "partition",
                           kClockKey = "clock", kCountsKey = "counts", kHashKey = "hash",
                           kFenceKey = "fence", kRebuildingKey = "rebuilding",
                           kMaturingKey = "maturing";

std::string topic_key(std::string_view topic) { return "topic/" + std::string(topic); }

constexpr std::string_view kBookmarkPrefix = "bookmark/", kDroppedPrefix = "dropped/";

std::string bookmark_key(const Source& source) {
    std::string key(kBookmarkPrefix);
    base::append_field(key, source.topic);
    base::append_u32(key, static_cast<uint32_t>(source.partition.value()));
    return key;
}

/// The counts in the order in which they are stored; new ones go at the end.
template <class C>
auto fields(C& c) {
    return std::array{&c.decisions,
                      &c.duplicate_decisions,
                      &c.conflicting_decisions,
                      &c.outcomes,
                      &c.duplicate_outcomes,
                      &c.conflicting_outcomes,
                      &c.corrections,
                      &c.late_outcomes,
                      &c.undecodable,
                      &c.matured,
                      &c.corrected,
                      &c.unmatched,
                      &c.overdue,
                      &c.fenced,
                      &c.gaps_accepted,
                      &c.replayed,
                      &c.dropped,
                      &c.overrides,
                      &c.erased,
                      &c.ignored,
                      &c.appended_late,
                      &c.sealed,
                      &c.in_clear,
                      &c.foreign_draws};
}

Result<TimePoint> read_time(base::ByteReader& in) {
    RAMPART_TRY(const int64_t micros, in.i64());
    return TimePoint::from_micros(micros);
}

std::string partition_value(const StoreIdentity& identity) {
    std::string value;
    base::append_u32(value, static_cast<uint32_t>(identity.partition.value()));
    base::append_u32(value, static_cast<uint32_t>(identity.partitions));
    return value;
}

/// What a new database has.
storage::WriteBatch first_batch(const StoreIdentity& identity, bool rebuilding) {
    storage::WriteBatch batch;
    batch.put(kMeta, kMeasuresKey, identity.measures);
    batch.put(kMeta, kPartitionKey, partition_value(identity));
    if (rebuilding) batch.put(kMeta, kRebuildingKey, "");
    return batch;
}

/// Marks a new database, and compares the marks of one that is there.
base::Status check_identity(storage::DerivedDatabase& db, const StoreIdentity& identity) {
    RAMPART_TRY(const auto measures, db.get(kMeta, kMeasuresKey));
    RAMPART_TRY(const auto partition, db.get(kMeta, kPartitionKey));
    if (!measures && !partition) {
        return db.write(first_batch(identity, db.has_set_aside()), storage::Sync::kAlways);
    }
    if (measures != identity.measures) {
        return base::make_error(
            Reason::kMeasuresChanged,
            "the joined state in '{}' was made for other measures (names, ranges, horizons or "
            "graces); restore these, or give a new folder, which replays the log",
            db.path().string());
    }
    if (partition != partition_value(identity)) {
        return base::make_error(
            streaming::Reason::kOtherPartition,
            "the joined state in '{}' is not that of partition {} of {}; set the number of "
            "partitions back, or give a new folder, which replays the log",
            db.path().string(), identity.partition, identity.partitions);
    }
    return base::ok();
}

Result<JoinState> decode_state(std::string_view id, std::string_view bytes) {
    auto state = decode_join_state(bytes);
    if (!state) return state.error().with_context(fmt::format("decision '{}'", id));
    return state;
}

/// Adds the entries of an index of decisions to `batch`, from one of the states.
using AddEntry = base::Status (*)(const std::string& id, const JoinState& state,
                                  storage::WriteBatch& batch);

/// Makes a part of an index in a store of a release that had none.
template <AddEntry add>
Result<std::optional<std::string>> index_decisions(const storage::Database& db,
                                                   std::string_view cursor,
                                                   storage::WriteBatch& batch) {
    std::optional<std::string> next;
    const auto visit = [&](std::string_view id, std::string_view value) -> Result<bool> {
        if (batch.size() == kStatesPerStep || batch.bytes() >= kBytesPerStep) {
            next = std::string(id);
            return false;
        }
        RAMPART_TRY(const auto state, decode_join_state(value));
        if (!state.decision.empty()) RAMPART_RETURN_IF_ERROR(add(std::string(id), state, batch));
        return true;
    };
    RAMPART_RETURN_IF_ERROR(db.scan(kJoins, {std::string(cursor), ""}, visit));
    return next;
}

base::Status add_person(const std::string& id, const JoinState& state, storage::WriteBatch& batch) {
    RAMPART_TRY(const auto decision, wire::decode_decision(state.decision));
    batch.put(kPersons, person_key(decision.application.person, id), "");
    return base::ok();
}

base::Status add_row(const std::string& id, const JoinState& state, storage::WriteBatch& batch) {
    RAMPART_TRY(const auto decision, wire::decode_decision(state.decision));
    const auto entry = row_entry(id, state, decision);
    batch.put(kByTime, entry.key, entry.value);
    return base::ok();
}

base::Status add_review(const std::string& id, const JoinState& state, storage::WriteBatch& batch) {
    RAMPART_TRY(const auto decision, wire::decode_decision(state.decision));
    if (const auto open = open_review(state, decision))
        batch.put(kReviews, review_key(open->since, id), "");
    return base::ok();
}

storage::Schema schema() {
    return {4,
            {{2, "index of decisions by person", index_decisions<add_person>},
             {3, "rows in the index by time", index_decisions<add_row>},
             {4, "index of open reviews", index_decisions<add_review>}}};
}

/// A cut of power takes any pages of the clock's writes, which are not synced: what was written
/// until then follows from the log, and is read again. What the log does not have must not go, and
/// is in a store that syncs each write.
storage::Recovery recovery_of(const std::filesystem::path& folder) {
    std::error_code error;
    const bool beyond = std::filesystem::exists(storage::beyond_log_mark(folder), error);
    return beyond || error ? storage::Recovery::kStrict : storage::Recovery::kPointInTime;
}

}  // namespace

Result<JoinStore> JoinStore::open(const std::filesystem::path& folder,
                                  const StoreIdentity& identity,
                                  std::shared_ptr<storage::MemoryBudget> memory,
                                  std::shared_ptr<rocksdb::Env> environment) {
    JoinStore store;
    RAMPART_TRY(store.db_,
                storage::DerivedDatabase::open(folder,
                                               {"meta", "joins", "by_time", "pending", "dangling",
                                                "overdue", "quarantine", "persons", "reviews"},
                                               {.recovery = recovery_of(folder),
                                                .schema = schema(),
                                                .budget = std::move(memory),
                                                .environment = std::move(environment)}));
    const auto fits = check_identity(*store.db_, identity);
    if (!fits && store.db_->damage()) return fits.error();
    return store;
}

Result<bool> JoinStore::renew(const StoreIdentity& identity,
                              const std::function<base::Status()>& allowed) {
    return db_->renew(allowed, [&](storage::Database& database) {
        return database.write(first_batch(identity, true), storage::Sync::kAlways);
    });
}

Result<bool> JoinStore::rebuilding() const {
    RAMPART_TRY(const auto mark, db_->get(kMeta, kRebuildingKey));
    return mark.has_value();
}

Result<std::optional<JoinState>> JoinStore::load(std::string_view id,
                                                 const storage::DerivedSnapshot* at) const {
    RAMPART_TRY(const auto bytes, find(id, at));
    if (!bytes) return std::optional<JoinState>();
    RAMPART_TRY(auto state, decode_state(id, *bytes));
    return std::optional(std::move(state));
}

Result<std::optional<std::string>> JoinStore::find(std::string_view id,
                                                   const storage::DerivedSnapshot* at) const {
    return db_->get(kJoins, id, at);
}

Result<std::optional<KnownTopic>> JoinStore::known_topic(std::string_view topic) const {
    RAMPART_TRY(const auto bytes, db_->get(kMeta, topic_key(topic)));
    if (!bytes) return std::optional<KnownTopic>();
    base::ByteReader in(*bytes);
    RAMPART_TRY(const auto identity, in.field());
    RAMPART_TRY(const uint32_t partitions, in.u32());
    return std::optional(KnownTopic{std::string(identity), static_cast<int32_t>(partitions)});
}

Result<streaming::Bookmark> JoinStore::bookmark(const Source& source) const {
    RAMPART_TRY(const auto bytes, db_->get(kMeta, bookmark_key(source)));
    if (!bytes) return streaming::Bookmark{};
    return streaming::decode_bookmark(*bytes);
}

Result<std::vector<std::pair<std::string, streaming::Bookmark>>> JoinStore::bookmarks() const {
    std::vector<std::pair<std::string, streaming::Bookmark>> found;
    const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
        base::ByteReader in(key.substr(kBookmarkPrefix.size()));
        RAMPART_TRY(const auto topic, in.field());
        RAMPART_TRY(const uint32_t partition, in.u32());
        RAMPART_TRY(auto bookmark, streaming::decode_bookmark(value));
        found.emplace_back(fmt::format("{}/{}", topic, partition), std::move(bookmark));
        return true;
    };
    RAMPART_RETURN_IF_ERROR(
        db_->scan(kMeta, storage::KeyRange::with_prefix(kBookmarkPrefix), visit));
    return found;
}

Result<StateHash> JoinStore::hash() const {
    RAMPART_TRY(const auto bytes, db_->get(kMeta, kHashKey));
    if (!bytes) return StateHash{};
    base::Digest value;
    if (bytes->size() != value.bytes.size()) {
        return base::make_error(Reason::kBadStateHash, "the stored state hash is damaged");
    }
    std::copy(bytes->begin(), bytes->end(), value.bytes.begin());
    return StateHash::from(value);
}

Result<uint64_t> JoinStore::fence() const {
    RAMPART_TRY(const auto bytes, db_->get(kMeta, kFenceKey));
    if (!bytes) return uint64_t{0};
    return base::ByteReader(*bytes).u64();
}

Result<std::optional<TimePoint>> JoinStore::time_at(std::string_view key) const {
    RAMPART_TRY(const auto bytes, db_->get(kMeta, key));
    if (!bytes) return std::optional<TimePoint>();
    base::ByteReader in(*bytes);
    RAMPART_TRY(const auto time, read_time(in));
    return std::optional(time);
}

Result<std::optional<TimePoint>> JoinStore::clock() const { return time_at(kClockKey); }

Result<std::optional<TimePoint>> JoinStore::maturing() const { return time_at(kMaturingKey); }

Result<Counts> JoinStore::counts() const {
    Counts counts;
    RAMPART_TRY(const auto bytes, db_->get(kMeta, kCountsKey));
    if (!bytes) return counts;
    base::ByteReader in(*bytes);
    for (uint64_t* field : fields(counts)) {
        if (!in.empty()) {
            RAMPART_TRY(*field, in.u64());
        } else if (field == &counts.sealed || field == &counts.in_clear) {
            *field = counts.decisions + counts.erased;  // written before: there may be both
        }
    }
    return counts;
}

Result<size_t> JoinStore::dropped_unread(TimePoint t) const {
    size_t dropped = 0;
    RAMPART_RETURN_IF_ERROR(db_->scan(kMeta, storage::KeyRange::with_prefix(kDroppedPrefix),
                                      [&](auto, std::string_view value) -> Result<bool> {
                                          base::ByteReader in(value);
                                          RAMPART_TRY(const auto timestamp, read_time(in));
                                          dropped += timestamp <= t ? 1 : 0;
                                          return true;
                                      }));
    return dropped;
}

Result<std::optional<TimePoint>> JoinStore::first_pending() const {
    std::optional<TimePoint> first;
    RAMPART_RETURN_IF_ERROR(
        db_->scan(kPending, storage::KeyRange::all(), [&](auto key, auto) -> Result<bool> {
            RAMPART_TRY(const auto parsed, parse_maturity_key(key));
            first = parsed.maturity;
            return false;
        }));
    return first;
}

Result<JoinState*> JoinBatch::load(const std::string& id) {
    const auto it = states_.find(id);
    if (it != states_.end()) return &it->second.state;
    RAMPART_TRY(const auto stored, store_.find(id, nullptr));
    Entry entry;
    if (stored) {
        RAMPART_TRY(entry.state, decode_state(id, *stored));
        entry.before = state_digest(id, entry.state, *stored);
        entry.has_row = !entry.state.decision.empty();
        entry.row_versions = entry.state.versions;
        entry.row_taken = entry.state.taken;
    }
    return &states_.emplace(id, std::move(entry)).first->second.state;
}

Result<const domain::Decision*> JoinBatch::decision_of(const std::string& id) {
    Entry& entry = states_.at(id);
    if (!entry.decision) {
        RAMPART_TRY(entry.decision, wire::decode_decision(entry.state.decision));
    }
    return &*entry.decision;
}

void JoinBatch::keep_decision(const std::string& id, domain::Decision decision) {
    states_.at(id).decision = std::move(decision);
}

/// Whether the row of a state is the one that is stored: it says nothing of reports.
bool JoinBatch::fits_row(const Entry& entry) {
    return entry.has_row && entry.state.versions == entry.row_versions &&
           entry.state.taken == entry.row_taken;
}

base::Status JoinBatch::put_state(const std::string& id, Entry& entry) {
    const std::string bytes = encode(entry.state);
    put(kJoins, id, bytes);
    if (!entry.state.decision.empty() && !fits_row(entry)) {
        RAMPART_TRY(const auto* decision, decision_of(id));
        const auto row = row_entry(id, entry.state, *decision);
        put(kByTime, row.key, row.value);
    }
    if (entry.before) totals_.hash.remove(*entry.before);
    totals_.hash.add(state_digest(id, entry.state, bytes));
    return base::ok();
}

void JoinBatch::put_pending(const MaturityKey& key) {
    put(kPending, maturity_key(key));
    first_pending_ = std::min(first_pending_.value_or(key.maturity), key.maturity);
}

void JoinBatch::put_known_topic(std::string_view topic, const KnownTopic& known) {
    std::string value;
    base::append_field(value, known.identity);
    base::append_u32(value, static_cast<uint32_t>(known.partitions));
    put(kMeta, topic_key(topic), value);
}

void JoinBatch::put_bookmark(const Source& source, streaming::Bookmark bookmark) {
    put(kMeta, bookmark_key(source), streaming::encode(bookmark));
    moved_.emplace_back(source, std::move(bookmark));
}

void JoinBatch::put_clock(TimePoint clock) {
    std::string value;
    base::append_i64(value, clock.micros());
    put(kMeta, kClockKey, value);
}

void JoinBatch::put_maturing(std::optional<TimePoint> until) {
    if (!until) return erase(kMeta, kMaturingKey);
    std::string value;
    base::append_i64(value, until->micros());
    put(kMeta, kMaturingKey, value);
}

void JoinBatch::put_whole() { erase(kMeta, kRebuildingKey); }

void JoinBatch::drop_unread(const std::string& quarantine_key, TimePoint timestamp) {
    std::string value;
    base::append_i64(value, timestamp.micros());
    put(kMeta, std::string(kDroppedPrefix) + quarantine_key, value);
    erase(kQuarantine, quarantine_key);
}

void JoinBatch::put_quarantined(const std::string& topic, const streaming::StoredRecord& stored,
                                const base::Error& why) {
    put(kQuarantine, wire::quarantine_key(topic, stored.partition, stored.offset),
        wire::encode_quarantined(wire::quarantine(topic, stored, why)));
}

Result<JoinBatch::Totals> JoinBatch::commit(storage::Sync sync) {
    for (auto& [id, entry] : states_) {
        if (entry.touched) RAMPART_RETURN_IF_ERROR(put_state(id, entry));
    }
    if (batch_.empty() && totals_ == before_) return totals_;
    std::string counts;
    for (const uint64_t* field : fields(totals_.counts)) base::append_u64(counts, *field);
    put(kMeta, kCountsKey, counts);
    const auto hash = totals_.hash.value();
    put(kMeta, kHashKey, std::string(hash.bytes.begin(), hash.bytes.end()));
    std::string fence;
    base::append_u64(fence, totals_.fence);
    put(kMeta, kFenceKey, fence);
    batch_.sort();
    RAMPART_RETURN_IF_ERROR(store_.db().write(batch_, sync));
    return totals_;
}

void add(Counts& total, const Counts& more) {
    const auto into = fields(total);
    const auto from = fields(more);
    for (size_t i = 0; i < into.size(); ++i) *into[i] += *from[i];
}

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

}  // namespace rampart::joiner
