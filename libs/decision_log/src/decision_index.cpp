#include "rampart/decision_log/decision_index.hpp"

#include <algorithm>
#include <set>

#include "index_keys.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/log.hpp"
#include "rampart/decision_log/reasons.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/fence.hpp"
#include "rampart/wire/record_codec.hpp"
#include "rampart/wire/topics.hpp"

namespace rampart::decision_log {

using base::Result;
using base::Status;
using streaming::Bookmark;
using streaming::StoredRecord;

namespace {

constexpr base::Logger kLog("decision_log");
constexpr std::string_view kFenceKey = "fence", kCountsKey = "counts";
constexpr size_t kReadBatch = 1000, kIdsAtOnce = 4096;

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
    std::set<std::string> seen;                                            // decision ids
    std::map<std::string, std::pair<int64_t, domain::PersonId>> explored;  // by decision id
    Fence fence;
    IndexCounts counts;
    bool erases = false;
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
    RAMPART_TRY(auto database,
                storage::DerivedDatabase::open(
                    options.path, {"meta", "decisions", "explored", "quarantine", "explanations"},
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
    std::map<int64_t, std::set<domain::PersonId>> explored;
    const auto one = [&](std::string_view, std::string_view value) -> Result<bool> {
        if (value == kErasedMark) return true;
        const auto decision = wire::decode_decision(value);  // check() names what cannot be read
        if (decision && decision->explored) {
            explored[base::day_of(decision->decided_at)].insert(decision->application.person);
        }
        return true;
    };
    RAMPART_RETURN_IF_ERROR(database_->scan(kDecisions, storage::KeyRange::all(), one));
    storage::WriteBatch batch;
    batch.erase_range(kExplored, "", std::string(sizeof(int64_t) + 1, '\xff'));
    for (const auto& [day, persons] : explored) put_explored(batch, day, persons.size());
    batch.put(kMeta, kExploredByKey, kDecidedAt);
    return database_->write(batch, storage::Sync::kAlways);
}

Result<std::optional<domain::Decision>> DecisionIndex::find(const domain::DecisionId& id) const {
    RAMPART_TRY(const auto bytes, database_->get(kDecisions, id.value()));
    if (!bytes) return std::optional<domain::Decision>();
    if (*bytes == kErasedMark) {
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

Status DecisionIndex::catch_up() {
    while (true) {
        RAMPART_TRY(const bool at_end, catch_up_some(kReadBatch));
        if (at_end) return base::ok();
    }
}

Result<bool> DecisionIndex::catch_up_some(size_t limit) {
    if (!verified_) {
        streaming::SourceChecks checks(reader_);
        RAMPART_RETURN_IF_ERROR(check(options_.decisions_topic, options_.partition, checks));
    }
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
        RAMPART_TRY(const auto known, database_->get(kDecisions, erasure->decision.value()));
        const auto decision = wire::decode_decision(known.value_or(std::string()));
        changes.explored.erase(erasure->decision.value());
        if (known && decision) {
            const int64_t day = base::day_of(decision->decided_at);
            changes.batch.erase(kMeta, explorer_key(day, decision->application.person));
        }
        changes.batch.put(kDecisions, erasure->decision.value(), kErasedMark);
        changes.batch.erase(kExplanations, erasure->decision.value());
        changes.erases = true;
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
    if (!decision->explored) return true;
    const int64_t day = base::day_of(decision->decided_at);
    const auto& person = decision->application.person;
    RAMPART_TRY(const auto before, database_->get(kMeta, explorer_key(day, person)));
    if (!before) changes.explored.emplace(id, std::pair(day, person));
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
    std::map<int64_t, std::set<domain::PersonId>> explored;
    for (const auto& [id, one] : changes.explored) {
        batch.put(kMeta, explorer_key(one.first, one.second), "");
        explored[one.first].insert(one.second);
    }
    for (const auto& [day, persons] : explored) {
        RAMPART_TRY(const uint64_t before, explored_on(day));
        put_explored(batch, day, before + persons.size());
        // the clocks of two nodes may be on different days
        batch.erase_range(kMeta, explorers_from(0), explorers_from(day - 1));
    }
    const Bookmark behind = streaming::bookmark_after(records.back());
    batch.put(kMeta, bookmark_key(options_.decisions_topic, options_.partition),
              streaming::encode(behind));
    batch.put(kMeta, kFenceKey, encode(changes.fence));
    batch.put(kMeta, kCountsKey, encode(changes.counts));
    std::unique_lock explaining(explaining_, std::defer_lock);
    if (changes.erases) explaining.lock();
    RAMPART_RETURN_IF_ERROR(database_->write(batch, storage::Sync::kNever));
    next_ = behind;
    if (changes.erases) ++erasing_writes_;
    const std::lock_guard lock(mutex_);
    fence_ = std::move(changes.fence);
    counts_ = changes.counts;
    return all_count;
}

Status DecisionIndex::visit_ids(const IdVisitor& visit) const {
    // some at a time: an open iterator keeps the files in which an erased decision lay
    auto range = storage::KeyRange::all();
    std::vector<std::pair<domain::DecisionId, bool>> page;
    do {
        page.clear();
        RAMPART_RETURN_IF_ERROR(
            database_->scan(kDecisions, range, [&](auto key, auto value) -> Result<bool> {
                page.emplace_back(std::string(key), value == kErasedMark);
                return page.size() < kIdsAtOnce;
            }));
        for (const auto& [id, erased] : page) RAMPART_RETURN_IF_ERROR(visit(id, erased));
        if (!page.empty()) range.begin = page.back().first.value() + '\0';
    } while (page.size() == kIdsAtOnce);
    return base::ok();
}

}  // namespace rampart::decision_log
