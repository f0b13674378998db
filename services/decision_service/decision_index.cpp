#include "services/decision_service/decision_index.hpp"

#include <algorithm>
#include <set>

#include "rampart/base/bytes.hpp"
#include "rampart/base/log.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"
#include "services/decision_service/reasons.hpp"

namespace rampart::decision_service {

using base::Result;
using base::Status;
using streaming::Bookmark;
using streaming::Offset;
using streaming::PartitionId;
using streaming::StoredRecord;

namespace {

constexpr base::Logger kLog("decision_service");
// positions in the list of families that open() gives; described in schemas/keys.md
constexpr storage::ColumnFamily kMeta{0};
constexpr storage::ColumnFamily kDecisions{1};  // decision id -> record bytes as logged, or kErased
constexpr storage::ColumnFamily kExplored{2};   // i64 day decided -> u64 count
constexpr storage::ColumnFamily kQuarantine{3};
const PartitionId kWholeTopic(-1);
constexpr std::string_view kPartitionKey = "partition", kFenceKey = "fence", kCountsKey = "counts",
                           kExploredByKey = "explored_by";
constexpr std::string_view kDecidedAt = "decided_at";  // whose days explored approvals count for
constexpr std::string_view kErased;                    // no message is empty
constexpr size_t kReadBatch = 1000;
constexpr size_t kMaxProblems = 100;  // more say nothing new

std::string topic_key(std::string_view topic) { return "topic/" + std::string(topic); }

std::string bookmark_key(std::string_view topic, PartitionId partition) {
    std::string key = "bookmark/";
    base::append_field(key, topic);
    base::append_u32(key, static_cast<uint32_t>(partition.value()));
    return key;
}

std::string day_key(int64_t day) {
    std::string key;
    base::append_i64(key, day);
    return key;
}

void put_explored(storage::WriteBatch& batch, int64_t day, uint64_t count) {
    std::string value;
    base::append_u64(value, count);
    batch.put(kExplored, day_key(day), value);
}

std::string partition_value(const IndexOptions& options) {
    std::string value;
    base::append_u32(value, static_cast<uint32_t>(options.partition.value()));
    base::append_u32(value, static_cast<uint32_t>(options.partitions));
    return value;
}

/// What a new index has.
storage::WriteBatch first_batch(const IndexOptions& options) {
    storage::WriteBatch batch;
    batch.put(kMeta, kPartitionKey, partition_value(options));
    batch.put(kMeta, kExploredByKey, kDecidedAt);
    return batch;
}

std::string encode(const Fence& fence) {
    std::string value;
    base::append_u64(value, fence.epoch);
    base::append_field(value, fence.node);
    return value;
}

std::string encode(const IndexCounts& counts) {
    std::string value;
    for (const uint64_t n :
         {counts.decisions, counts.repeated, counts.fenced, counts.passed_over}) {
        base::append_u64(value, n);
    }
    return value;
}

std::string node_of(const streaming::Record& fence) {
    for (const auto& header : fence.headers) {
        if (header.name == wire::kNodeHeader) return header.value.substr(0, 128);
    }
    return {};
}

}  // namespace

/// What a run of records does to the index.
struct DecisionIndex::Changes {
    storage::WriteBatch batch;
    std::set<std::string> seen;  // decision ids
    std::map<int64_t, uint64_t> explored;
    Fence fence;
    IndexCounts counts;
};

DecisionIndex::DecisionIndex(IndexOptions options, const streaming::Reader& reader,
                             std::unique_ptr<storage::DerivedDatabase> database)
    : options_(std::move(options)), reader_(reader), database_(std::move(database)) {}

Result<std::unique_ptr<DecisionIndex>> DecisionIndex::open(IndexOptions options,
                                                           const streaming::Reader& reader) {
    std::error_code failure;  // storage says what is wrong with the path
    std::filesystem::create_directories(options.path.parent_path(), failure);
    storage::OpenOptions storage_options;
    // what a power cut takes is read from the log again
    storage_options.recovery = storage::Recovery::kPointInTime;
    storage_options.budget = options.memory;
    storage_options.environment = options.environment;
    RAMPART_TRY(auto database, storage::DerivedDatabase::open(
                                   options.path, {"meta", "decisions", "explored", "quarantine"},
                                   storage_options));
    std::unique_ptr<DecisionIndex> index(
        new DecisionIndex(std::move(options), reader, std::move(database)));
    const auto loaded = index->load();
    if (!loaded && index->damage()) return loaded.error();
    return index;
}

Status DecisionIndex::load() {
    const std::string identity = partition_value(options_);
    RAMPART_TRY(const auto made_for, database_->get(kMeta, kPartitionKey));
    if (!made_for) return database_->write(first_batch(options_), storage::Sync::kAlways);
    if (*made_for != identity) {
        return base::make_error(streaming::Reason::kOtherPartition,
                                "the index in '{}' is not that of partition {} of {}; set "
                                "the number of partitions back, "
                                "or remove the index to make it anew from the log",
                                database_->path().string(), options_.partition,
                                options_.partitions);
    }
    RAMPART_TRY(const auto explored_by, database_->get(kMeta, kExploredByKey));
    if (explored_by != kDecidedAt) RAMPART_RETURN_IF_ERROR(recount_explored());
    RAMPART_TRY(const auto mark, bookmark(options_.decisions_topic, options_.partition));
    if (mark) next_ = *mark;
    RAMPART_TRY(const auto fence, database_->get(kMeta, kFenceKey));
    if (fence) {
        base::ByteReader in(*fence);
        RAMPART_TRY(fence_.epoch, in.u64());
        RAMPART_TRY(fence_.node, in.field());
    }
    RAMPART_TRY(const auto counts, database_->get(kMeta, kCountsKey));
    if (counts) {
        base::ByteReader in(*counts);
        for (auto* n :
             {&counts_.decisions, &counts_.repeated, &counts_.fenced, &counts_.passed_over}) {
            RAMPART_TRY(*n, in.u64());
        }
    }
    return base::ok();
}

/// Counts the explored approvals again: earlier releases did by the days of the applications.
Status DecisionIndex::recount_explored() {
    std::map<int64_t, uint64_t> explored;
    const auto one = [&](std::string_view, std::string_view value) -> Result<bool> {
        if (value == kErased) return true;
        const auto decision = wire::decode_decision(value);  // check() names what cannot be read
        if (decision && decision->explored) ++explored[base::day_of(decision->decided_at)];
        return true;
    };
    RAMPART_RETURN_IF_ERROR(database_->scan(kDecisions, storage::KeyRange::all(), one));
    storage::WriteBatch batch;
    batch.erase_range(kExplored, "", std::string(sizeof(int64_t) + 1, '\xff'));
    for (const auto& [day, count] : explored) put_explored(batch, day, count);
    batch.put(kMeta, kExploredByKey, kDecidedAt);
    return database_->write(batch, storage::Sync::kAlways);
}

Result<std::optional<domain::Decision>> DecisionIndex::find(const domain::DecisionId& id) const {
    RAMPART_TRY(const auto bytes, database_->get(kDecisions, id.value()));
    if (!bytes) return std::optional<domain::Decision>();
    if (*bytes == kErased) {
        return base::make_error(
            Reason::kErased,
            "decision '{}' was erased at the applicant's request; a new application needs "
            "an id of its own",
            id);
    }
    RAMPART_TRY(auto decision, wire::decode_decision(*bytes));
    return std::optional(std::move(decision));
}

Result<uint64_t> DecisionIndex::explored_on(int64_t day) const {
    RAMPART_TRY(const auto stored, database_->get(kExplored, day_key(day)));
    if (!stored) return uint64_t{0};
    return base::ByteReader(*stored).u64();
}

Fence DecisionIndex::fence() const {
    const std::lock_guard lock(mutex_);
    return fence_;
}

IndexCounts DecisionIndex::counts() const {
    const std::lock_guard lock(mutex_);
    return counts_;
}

Result<std::optional<DecisionIndex::Topic>> DecisionIndex::known_topic(
    std::string_view topic) const {
    RAMPART_TRY(const auto bytes, database_->get(kMeta, topic_key(topic)));
    if (!bytes) return std::optional<Topic>();
    base::ByteReader in(*bytes);
    RAMPART_TRY(const auto identity, in.field());
    RAMPART_TRY(const uint32_t partitions, in.u32());
    return std::optional(Topic{std::string(identity), static_cast<int32_t>(partitions)});
}

Result<DecisionIndex::Topic> DecisionIndex::topic_now(std::string_view topic) const {
    Topic now;
    RAMPART_TRY(now.partitions, reader_.partitions(topic));
    RAMPART_TRY(now.identity, reader_.identity(topic));
    return now;
}

/// Whether the topic is the one that was read before.
Status DecisionIndex::check_topic(std::string_view topic) {
    RAMPART_TRY(const Topic now, topic_now(topic));
    RAMPART_TRY(const auto known, known_topic(topic));
    const bool decisions = topic == options_.decisions_topic;
    const int32_t expected = known       ? known->partitions
                             : decisions ? options_.partitions
                                         : now.partitions;
    if (known && known->identity != now.identity) {
        return base::make_error(streaming::Reason::kTopicRecreated,
                                "topic '{}' is '{}', and '{}' was read before: the log is another",
                                topic, now.identity, known->identity);
    }
    if (now.partitions != expected) {
        return base::make_error(streaming::Reason::kPartitionsChanged,
                                "topic '{}' has {} partitions, and {} are expected", topic,
                                now.partitions, expected);
    }
    if (known) return base::ok();
    storage::WriteBatch batch;
    put_topic(batch, topic, now);
    return database_->write(batch, storage::Sync::kAlways);
}

void DecisionIndex::put_topic(storage::WriteBatch& batch, std::string_view topic,
                              const Topic& now) {
    std::string value;
    base::append_field(value, now.identity);
    base::append_u32(value, static_cast<uint32_t>(now.partitions));
    batch.put(kMeta, topic_key(topic), value);
}

Status DecisionIndex::check(std::string_view topic, PartitionId partition) {
    RAMPART_RETURN_IF_ERROR(check_topic(topic));
    RAMPART_TRY(auto mark, bookmark(topic, partition));
    // decisions are read from the first; of applications, what was dropped before is not for us
    if (!mark && topic != options_.decisions_topic) return base::ok();
    return streaming::check_bookmark(reader_, topic, partition, mark.value_or(Bookmark()));
}

Status DecisionIndex::catch_up() {
    while (true) {
        RAMPART_TRY(const bool at_end, catch_up_some(kReadBatch));
        if (at_end) return base::ok();
    }
}

Result<bool> DecisionIndex::catch_up_some(size_t limit) {
    if (!verified_) RAMPART_RETURN_IF_ERROR(check(options_.decisions_topic, options_.partition));
    verified_ = false;  // until nothing has failed
    size_t left = limit;
    bool at_end = false;
    while (!at_end && left > 0) {
        RAMPART_TRY(const auto records,
                    reader_.read(options_.decisions_topic, options_.partition, next_.next, left));
        if (!records.empty()) RAMPART_RETURN_IF_ERROR(index(records));
        left -= std::min(left, records.size());
        at_end = records.empty();
    }
    verified_ = true;
    return at_end;
}

base::Error DecisionIndex::cannot_be_made_anew(const std::string& why) const {
    return storage::state_damaged(options_.path,
                                  why +
                                      "; decisions would be forgotten: restore it from a "
                                      "backup");
}

/// Whether reading the log from its beginning gives back all that the index had. What cannot be
/// read of it any more is not asked.
Status DecisionIndex::check_log_is_whole() const {
    const auto& topic = options_.decisions_topic;
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic, options_.partition));
    if (begin > Offset(0)) {
        return cannot_be_made_anew(fmt::format("topic '{}' begins at {} by now", topic, begin));
    }
    RAMPART_TRY(const Topic now, topic_now(topic));
    const auto known = known_topic(topic);
    if (known && *known && (*known)->identity != now.identity) {
        return cannot_be_made_anew(fmt::format("topic '{}' is another", topic));
    }
    RAMPART_TRY(const Offset end, reader_.end_offset(topic, options_.partition));
    const auto mark = bookmark(topic, options_.partition);
    if (mark && *mark && end < (*mark)->next) {
        return cannot_be_made_anew(
            fmt::format("topic '{}' ends at {}, and was read to {}", topic, end, (*mark)->next));
    }
    return base::ok();
}

Status DecisionIndex::renew() {
    RAMPART_TRY(const bool renewed, database_->renew([this] { return check_log_is_whole(); },
                                                     [this](storage::Database& database) {
                                                         return database.write(
                                                             first_batch(options_),
                                                             storage::Sync::kAlways);
                                                     }));
    if (!renewed) return base::ok();
    next_ = {};
    verified_ = false;
    const std::lock_guard lock(mutex_);
    fence_ = {};
    counts_ = {};
    return base::ok();
}

Result<bool> DecisionIndex::apply(std::span<const StoredRecord> records) {
    int64_t expected = next_.next.value();
    bool follows = verified_;
    for (const auto& record : records) follows &= record.offset.value() == expected++;
    if (follows) {
        auto all_count = index(records);
        verified_ = all_count.has_value();
        return all_count;
    }
    RAMPART_RETURN_IF_ERROR(catch_up());
    return false;
}

/// Whether the record counts; a fence does.
Result<bool> DecisionIndex::index_one(const StoredRecord& stored, Changes& changes) const {
    const auto& record = stored.record;
    const auto pass_over = [&](const base::Error& why) {
        kLog.warning("msg=\"record passed over\" partition={} offset={} reason={} what=\"{}\"",
                     options_.partition, stored.offset, why.reason, why.message);
        ++changes.counts.passed_over;
        return false;
    };
    if (wire::is_erasure(record)) {
        const auto erasure = wire::decode_erasure(record, options_.partition, options_.partitions);
        if (!erasure) return pass_over(erasure.error());
        changes.batch.put(kDecisions, erasure->decision.value(), kErased);
        changes.seen.insert(erasure->decision.value());
        return true;
    }
    const auto mark = wire::writer_mark(record);
    if (!mark) return pass_over(mark.error());
    if (mark->epoch < changes.fence.epoch) {
        ++changes.counts.fenced;
        return false;
    }
    if (mark->fence) {
        changes.fence = {mark->epoch, node_of(record)};
        return true;
    }
    const auto decision = wire::decode_decision(record, options_.partition, options_.partitions);
    if (!decision) return pass_over(decision.error());
    const std::string& id = decision->id.value();
    RAMPART_TRY(const auto known, database_->get(kDecisions, id));
    if (known || !changes.seen.insert(id).second) {
        ++changes.counts.repeated;
        return false;
    }
    changes.batch.put(kDecisions, id, record.value);
    ++changes.counts.decisions;
    if (decision->explored) ++changes.explored[base::day_of(decision->decided_at)];
    return true;
}

Result<bool> DecisionIndex::index(std::span<const StoredRecord> records) {
    Changes changes;
    changes.fence = fence();
    changes.counts = counts();
    bool all_count = true;
    for (const auto& record : records) {
        RAMPART_TRY(const bool one_counts, index_one(record, changes));
        all_count &= one_counts;
    }
    auto& batch = changes.batch;
    for (const auto& [day, count] : changes.explored) {
        RAMPART_TRY(const uint64_t before, explored_on(day));
        put_explored(batch, day, before + count);
    }
    const Bookmark behind = streaming::bookmark_after(records.back());
    batch.put(kMeta, bookmark_key(options_.decisions_topic, options_.partition),
              streaming::encode(behind));
    batch.put(kMeta, kFenceKey, encode(changes.fence));
    batch.put(kMeta, kCountsKey, encode(changes.counts));
    RAMPART_RETURN_IF_ERROR(database_->write(batch, storage::Sync::kNever));
    next_ = behind;
    const std::lock_guard lock(mutex_);
    fence_ = std::move(changes.fence);
    counts_ = changes.counts;
    return all_count;
}

Result<std::optional<Bookmark>> DecisionIndex::bookmark(std::string_view topic,
                                                        PartitionId source) const {
    RAMPART_TRY(const auto bytes, database_->get(kMeta, bookmark_key(topic, source)));
    if (!bytes) return std::optional<Bookmark>();
    RAMPART_TRY(auto mark, streaming::decode_bookmark(*bytes));
    return std::optional(std::move(mark));
}

Result<std::vector<std::string>> DecisionIndex::check() const {
    std::vector<std::string> problems;
    const auto problem = [&](std::string text) {
        if (problems.size() < kMaxProblems) problems.push_back(std::move(text));
    };
    uint64_t decisions = 0, erased = 0;
    std::map<int64_t, uint64_t> explored;
    const auto one = [&](std::string_view id, std::string_view value) -> Result<bool> {
        if (value.empty()) {  // nothing is left of it but that it was there
            ++erased;
            return true;
        }
        ++decisions;
        const auto decision = wire::decode_decision(value);
        if (!decision) {
            problem(fmt::format("decision '{}': {}", id, decision.error().message));
            return true;
        }
        if (decision->id.value() != id) {
            problem(fmt::format("decision '{}' stands under '{}'", decision->id, id));
        }
        const auto home = streaming::partition_of(id, options_.partitions);
        if (home != options_.partition) {
            problem(fmt::format("decision '{}' belongs to partition {}", id, home));
        }
        if (decision->explored) ++explored[base::day_of(decision->decided_at)];
        return true;
    };
    RAMPART_RETURN_IF_ERROR(database_->scan(kDecisions, storage::KeyRange::all(), one));
    const uint64_t counted = counts().decisions;
    if (decisions > counted || decisions + erased < counted) {
        problem(fmt::format("{} decisions are counted, {} are there", counted, decisions));
    }
    for (const auto& [day, found] : explored) {
        RAMPART_TRY(const uint64_t stored, explored_on(day));
        if (found > stored || (erased == 0 && found != stored)) {
            problem(fmt::format("of day {}, {} explored approvals are counted, {} are there", day,
                                stored, found));
        }
    }
    return problems;
}

Status DecisionIndex::check_source(std::string_view topic, PartitionId source) {
    return check(topic, source);
}

Status DecisionIndex::put_progress(std::string_view topic, const Bookmarks& marks,
                                   std::span<const wire::Quarantined> quarantined,
                                   storage::Sync sync) {
    storage::WriteBatch batch;
    for (const auto& [source, mark] : marks) {
        batch.put(kMeta, bookmark_key(topic, source), streaming::encode(mark));
    }
    for (const auto& one : quarantined) {
        batch.put(kQuarantine, wire::quarantine_key(one.topic, one.partition, one.offset),
                  wire::encode_quarantined(one));
    }
    return batch.empty() ? base::ok() : database_->write(batch, sync);
}

Result<std::optional<AcceptedGap>> DecisionIndex::accept_gap(std::string_view topic,
                                                             PartitionId partition) {
    const Status topic_fits = check_topic(topic);
    if (!topic_fits) {
        if (partition != kWholeTopic || !is_gap(topic_fits.error())) return topic_fits.error();
        return accept_topic(topic, topic_fits.error());
    }
    if (partition == kWholeTopic) return std::optional<AcceptedGap>();
    const Status fit = check(topic, partition);
    if (fit) return std::optional<AcceptedGap>();
    if (!is_gap(fit.error())) return fit.error();
    RAMPART_TRY(const auto before, bookmark(topic, partition));
    RAMPART_TRY(const Offset begin, reader_.begin_offset(topic, partition));
    if (topic == options_.decisions_topic) RAMPART_RETURN_IF_ERROR(database_->mark_beyond_log());
    RAMPART_RETURN_IF_ERROR(put_progress(topic, {{partition, {begin, ""}}}));
    if (topic == options_.decisions_topic) next_ = {begin, ""};
    return std::optional(AcceptedGap{options_.partition, std::string(topic), partition, fit.error(),
                                     before ? before->next : Offset(0), begin});
}

/// Takes the topic for what it is now. Offsets in another topic mean nothing in this one.
Result<std::optional<AcceptedGap>> DecisionIndex::accept_topic(std::string_view topic,
                                                               const base::Error& why) {
    RAMPART_TRY(const Topic now, topic_now(topic));
    const bool decisions = topic == options_.decisions_topic;
    if (decisions && now.partitions < options_.partitions) return why;
    if (decisions && why.is(streaming::Reason::kTopicRecreated)) {
        RAMPART_RETURN_IF_ERROR(database_->mark_beyond_log());
    }
    storage::WriteBatch batch;
    put_topic(batch, topic, now);
    if (why.is(streaming::Reason::kTopicRecreated)) {
        for (int32_t p = 0; p < now.partitions; ++p) {
            RAMPART_TRY(const auto old, bookmark(topic, PartitionId(p)));
            if (!old) continue;
            RAMPART_TRY(const Offset begin, reader_.begin_offset(topic, PartitionId(p)));
            batch.put(kMeta, bookmark_key(topic, PartitionId(p)),
                      streaming::encode(Bookmark{begin, ""}));
            if (decisions) next_ = {begin, ""};
        }
    }
    RAMPART_RETURN_IF_ERROR(database_->write(batch, storage::Sync::kAlways));
    return std::optional(
        AcceptedGap{options_.partition, std::string(topic), kWholeTopic, why, {}, {}});
}

Result<std::vector<wire::Quarantined>> DecisionIndex::quarantined(size_t limit) const {
    std::vector<wire::Quarantined> found;
    const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
        if (found.size() >= limit) return false;
        RAMPART_TRY(auto one, wire::decode_quarantined(key, value));
        found.push_back(std::move(one));
        return true;
    };
    RAMPART_RETURN_IF_ERROR(database_->scan(kQuarantine, storage::KeyRange::all(), visit));
    return found;
}

Result<std::optional<wire::Quarantined>> DecisionIndex::find_quarantined(std::string_view topic,
                                                                         PartitionId partition,
                                                                         Offset offset) const {
    const auto key = wire::quarantine_key(topic, partition, offset);
    RAMPART_TRY(const auto value, database_->get(kQuarantine, key));
    if (!value) return std::optional<wire::Quarantined>();
    RAMPART_TRY(auto one, wire::decode_quarantined(key, *value));
    return std::optional(std::move(one));
}

Status DecisionIndex::compact_erased(std::span<const domain::DecisionId> decisions) {
    for (const auto& id : decisions) {
        RAMPART_RETURN_IF_ERROR(database_->compact(kDecisions, {id.value(), id.value() + '\0'}));
    }
    return database_->compact(kQuarantine);
}

Status DecisionIndex::compact_erased() {
    RAMPART_RETURN_IF_ERROR(database_->compact(kDecisions));
    return database_->compact(kQuarantine);
}

Status DecisionIndex::visit_ids(const IdVisitor& visit) const {
    return database_->scan(
        kDecisions, storage::KeyRange::all(), [&](auto key, auto value) -> Result<bool> {
            RAMPART_RETURN_IF_ERROR(visit(domain::DecisionId(std::string(key)), value == kErased));
            return true;
        });
}

Status DecisionIndex::drop_quarantined(const wire::Quarantined& one) {
    storage::WriteBatch batch;
    batch.erase(kQuarantine, wire::quarantine_key(one.topic, one.partition, one.offset));
    return database_->write(batch, storage::Sync::kAlways);
}

}  // namespace rampart::decision_service
