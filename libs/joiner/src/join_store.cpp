#include "join_store.hpp"

#include <algorithm>
#include <array>

#include "rampart/base/bytes.hpp"

namespace rampart::joiner {
namespace {

using base::Result;
using base::TimePoint;

constexpr std::string_view kMeasuresKey = "measures", kClockKey = "clock", kCountsKey = "counts";

std::string topic_key(std::string_view topic) { return "topic/" + std::string(topic); }

std::string offset_key(std::string_view topic, streaming::PartitionId id) {
    std::string key = "offset/";
    base::append_field(key, topic);
    base::append_u32(key, static_cast<uint32_t>(id.value()));
    return key;
}

/// The counts in the order in which they are stored; new ones go at the end.
template <class C>
auto fields(C& c) {
    return std::array{&c.decisions,   &c.duplicate_decisions, &c.conflicting_decisions,
                      &c.outcomes,    &c.duplicate_outcomes,  &c.conflicting_outcomes,
                      &c.corrections, &c.late_outcomes,       &c.undecodable,
                      &c.matured,     &c.corrected,           &c.dangling,
                      &c.overdue};
}

Result<TimePoint> read_time(base::ByteReader& in) {
    RAMPART_TRY(const int64_t micros, in.i64());
    return TimePoint::from_micros(micros);
}

}  // namespace

std::string time_key(TimePoint event_time, std::string_view id) {
    std::string key;
    base::append_i64(key, event_time.micros());
    key += id;
    return key;
}

Result<TimeKey> parse_time_key(std::string_view key) {
    base::ByteReader in(key);
    RAMPART_TRY(const auto time, read_time(in));
    return TimeKey{time, std::string(in.rest())};
}

std::string maturity_key(const MaturityKey& key) {
    std::string out;
    base::append_i64(out, key.maturity.micros());
    base::append_field(out, key.measure);
    out += key.id;
    return out;
}

Result<MaturityKey> parse_maturity_key(std::string_view key) {
    base::ByteReader in(key);
    RAMPART_TRY(const auto maturity, read_time(in));
    RAMPART_TRY(const auto measure, in.field());
    return MaturityKey{maturity, std::string(measure), std::string(in.rest())};
}

Result<JoinStore> JoinStore::open(const std::filesystem::path& folder, std::string_view measures) {
    JoinStore store;
    RAMPART_TRY(store.db_, storage::Database::open(folder, {"meta", "joins", "by_time", "pending",
                                                            "dangling", "overdue", "quarantine"}));
    RAMPART_TRY(const auto present, store.db_->get(kMeta, kMeasuresKey));
    if (present && *present != measures) {
        return base::failed_precondition(
            "measures_changed",
            "the joiner's store '{}' was made for other measures (names, ranges, horizons or "
            "graces); restore these, or give a new folder, which replays the log",
            folder.string());
    }
    if (!present) {
        storage::WriteBatch batch;
        batch.put(kMeta, kMeasuresKey, measures);
        RAMPART_RETURN_IF_ERROR(store.db_->write(batch, storage::Sync::kAlways));
    }
    return store;
}

Result<std::optional<JoinState>> JoinStore::load(std::string_view id,
                                                 const storage::Snapshot* at) const {
    RAMPART_TRY(const auto bytes, db_->get(kJoins, id, at));
    if (!bytes) return std::optional<JoinState>();
    auto state = decode_join_state(*bytes);
    if (!state) return state.error().with_context(fmt::format("decision '{}'", id));
    return std::optional(*std::move(state));
}

Result<std::optional<KnownTopic>> JoinStore::known_topic(std::string_view topic) const {
    RAMPART_TRY(const auto bytes, db_->get(kMeta, topic_key(topic)));
    if (!bytes) return std::optional<KnownTopic>();
    base::ByteReader in(*bytes);
    RAMPART_TRY(const auto identity, in.field());
    RAMPART_TRY(const uint32_t partitions, in.u32());
    return std::optional(KnownTopic{std::string(identity), static_cast<int32_t>(partitions)});
}

Result<streaming::Offset> JoinStore::next_offset(std::string_view topic,
                                                 streaming::PartitionId id) const {
    RAMPART_TRY(const auto bytes, db_->get(kMeta, offset_key(topic, id)));
    if (!bytes) return streaming::Offset(0);
    RAMPART_TRY(const int64_t offset, base::ByteReader(*bytes).i64());
    return streaming::Offset(offset);
}

Result<std::optional<TimePoint>> JoinStore::clock() const {
    RAMPART_TRY(const auto bytes, db_->get(kMeta, kClockKey));
    if (!bytes) return std::optional<TimePoint>();
    base::ByteReader in(*bytes);
    RAMPART_TRY(const auto clock, read_time(in));
    return std::optional(clock);
}

Result<Counts> JoinStore::counts() const {
    Counts counts;
    RAMPART_TRY(const auto bytes, db_->get(kMeta, kCountsKey));
    if (!bytes) return counts;
    base::ByteReader in(*bytes);
    for (uint64_t* field : fields(counts)) {
        RAMPART_TRY(*field, in.u64());
    }
    return counts;
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
    RAMPART_TRY(auto stored, store_.load(id, nullptr));
    return &states_.emplace(id, Entry{std::move(stored).value_or(JoinState()), false})
                .first->second.state;
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

void JoinBatch::put_next_offset(std::string_view topic, streaming::PartitionId id,
                                streaming::Offset next) {
    std::string value;
    base::append_i64(value, next.value());
    put(kMeta, offset_key(topic, id), value);
}

void JoinBatch::put_clock(TimePoint clock) {
    std::string value;
    base::append_i64(value, clock.micros());
    put(kMeta, kClockKey, value);
}

void JoinBatch::put_quarantined(const std::string& topic, const streaming::StoredRecord& record,
                                const base::Error& why) {
    std::string key, value;
    base::append_field(key, topic);
    base::append_u32(key, static_cast<uint32_t>(record.partition.value()));
    base::append_i64(key, record.offset.value());
    for (const std::string_view field :
         {std::string_view(why.reason), std::string_view(why.message),
          std::string_view(record.record.key), std::string_view(record.record.value)}) {
        base::append_field(value, field);
    }
    put(kQuarantine, key, value);
}

base::Status JoinBatch::commit(storage::Sync sync) {
    for (const auto& [id, entry] : states_) {
        if (entry.touched) put(kJoins, id, encode(entry.state));
    }
    if (batch_.empty()) return base::ok();
    std::string value;
    for (const uint64_t* field : fields(counts_)) base::append_u64(value, *field);
    put(kMeta, kCountsKey, value);
    return store_.db().write(batch_, sync);
}

Result<Quarantined> decode_quarantined(std::string_view key, std::string_view value) {
    Quarantined out;
    base::ByteReader where(key), what(value);
    RAMPART_TRY(out.topic, where.field());
    RAMPART_TRY(const uint32_t partition, where.u32());
    out.partition = streaming::PartitionId(static_cast<int32_t>(partition));
    RAMPART_TRY(const int64_t offset, where.i64());
    out.offset = streaming::Offset(offset);
    RAMPART_TRY(out.reason, what.field());
    RAMPART_TRY(out.message, what.field());
    RAMPART_TRY(out.key, what.field());
    RAMPART_TRY(out.value, what.field());
    return out;
}

}  // namespace rampart::joiner
