#include "rampart/streaming_local/local_log.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <mutex>

#include "rampart/base/digest.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_local/reasons.hpp"
#include "record_codec.hpp"
#include "topic_store.hpp"

namespace rampart::streaming_local {

namespace limits = base::limits;
using base::Result;
using base::Status;
using storage::KeyRange;
using storage::Sync;
using storage::WriteBatch;
using streaming::Offset;
using streaming::PartitionId;
using streaming::Position;
using streaming::Record;
using streaming::StoredRecord;

namespace {

constexpr size_t kMaxGroupBytes =
    4u << 20;  // bytes of the appends that share one write, after the first
constexpr uint64_t kMaxDropped = 10'000;  // in one turn, while appends wait

Result<std::string> encode_checked(const Record& record, std::string_view topic, bool timed) {
    if (record.headers.size() > kMaxHeaders) {
        return base::make_error(streaming::Reason::kTooManyHeaders,
                                "a record for topic '{}' has {} headers; at most {} are "
                                "allowed",
                                topic, record.headers.size(), kMaxHeaders);
    }
    size_t bytes = record.key.size() + record.value.size();
    for (const auto& [name, value] : record.headers) bytes += name.size() + value.size();
    if (bytes > limits::kMaxRecordBytes) {
        return base::make_error(streaming::Reason::kRecordTooLarge,
                                "a record for topic '{}' has {} bytes; at most {} are "
                                "allowed",
                                topic, bytes, limits::kMaxRecordBytes);
    }
    return encode(record, timed);
}

Status check_name(std::string_view name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '.' || c == '_' || c == '-';
    };
    if (!name.empty() && name.size() <= limits::kMaxNameBytes &&
        std::all_of(name.begin(), name.end(), allowed)) {
        return base::ok();
    }
    return base::make_error(streaming::Reason::kBadTopic,
                            "topic name '{}' must have 1 to {} characters of A-Z, a-z, "
                            "0-9, '.', '_' and '-'",
                            name.substr(0, limits::kMaxNameBytes), limits::kMaxNameBytes);
}

Status check_options(std::string_view name, const TopicOptions& options) {
    RAMPART_RETURN_IF_ERROR(check_name(name));
    if (options.partitions < 1 || options.partitions > kMaxPartitions) {
        return base::make_error(streaming::Reason::kBadPartitions,
                                "topic '{}': {} partitions; 1 to {} are allowed", name,
                                options.partitions, kMaxPartitions);
    }
    if (options.retention.max_age && options.retention.max_age->micros() < 0) {
        return base::make_error(Reason::kBadRetention, "topic '{}': the age to keep is negative",
                                name);
    }
    return base::ok();
}

/// An append() that waits for its turn.
struct Request {
    std::string_view topic;
    std::optional<PartitionId> partition;  // empty: determined by each record's key
    std::span<const Record> records;
    std::vector<std::string> encoded;
    size_t bytes = 0;
    bool done = false;
    Result<std::vector<Position>> result;
};

}  // namespace

struct LocalLog::Impl {
    std::unique_ptr<storage::Database> db;
    bool read_only = false;

    // Only the thread that has the write turn changes `topics`, and only under the mutex; so that
    // thread may read them without the mutex, and all other threads with it.
    mutable std::mutex mutex;
    std::condition_variable changed;
    bool writing = false;
    uint64_t turns = 0;  // that have ended
    std::deque<Request*> queue;
    std::map<std::string, Topic, std::less<>> topics;

    const base::Clock* clock = nullptr;
    // Time of the last append; read and set in the write turn.
    base::TimePoint appended_at = base::TimePoint::from_micros(std::numeric_limits<int64_t>::min());

    /// The write turn, held from construction to destruction.
    class Turn {
      public:
        explicit Turn(Impl& impl) : impl_(impl) {
            std::unique_lock lock(impl_.mutex);
            impl_.changed.wait(lock, [&] { return !impl_.writing; });
            impl_.writing = true;
        }
        ~Turn() {
            const std::lock_guard lock(impl_.mutex);
            impl_.end_turn();
        }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

      private:
        Impl& impl_;
    };

    void end_turn() {  // under the mutex
        writing = false;
        ++turns;
        changed.notify_all();
    }
    void stamp(Request& request) const;
    static Result<std::unique_ptr<Impl>> open(const std::filesystem::path& folder,
                                              const storage::OpenOptions& options);
    Status check_writable() const;
    Result<const Topic*> find(std::string_view name) const;
    Result<const Partition*> find(std::string_view name, PartitionId partition) const;
    std::vector<Request*> take_group();
    void commit(std::span<Request* const> group);
    Result<uint64_t> drop_from(const TopicInfo& info, PartitionId partition, base::TimePoint now,
                               std::optional<Offset> needed);
    /// Whether the first record of a partition is to go: by its time, and the bytes that there are.
    using Goes = std::function<bool(base::TimePoint timestamp, uint64_t bytes)>;
    Result<uint64_t> drop_some(Topic& topic, size_t partition, int64_t end, const Goes& goes);
    Result<uint64_t> drop_from(const TopicInfo& info, PartitionId partition, int64_t end,
                               const Goes& goes);
};

Result<std::unique_ptr<LocalLog::Impl>> LocalLog::Impl::open(const std::filesystem::path& folder,
                                                             const storage::OpenOptions& options) {
    auto impl = std::make_unique<Impl>();
    impl->read_only = options.read_only;
    RAMPART_TRY(impl->db, storage::Database::open(folder, topic_store_families(), options));
    RAMPART_TRY(impl->topics, load_topics(*impl->db));
    for (const auto& [name, topic] : impl->topics) {
        for (const auto& partition : topic.partitions) {
            impl->appended_at =
                std::max(impl->appended_at, partition.appended_at.value_or(impl->appended_at));
        }
    }
    return impl;
}

Status LocalLog::Impl::check_writable() const {
    if (!read_only) return base::ok();
    return base::make_error(storage::Reason::kReadOnly, "log '{}' is open for reading only",
                            db->path().string());
}

Result<const Topic*> LocalLog::Impl::find(std::string_view name) const {
    const auto it = topics.find(name);
    if (it != topics.end()) return &it->second;
    return base::make_error(streaming::Reason::kNoTopic,
                            "log '{}' has no topic '{}'; create it first", db->path().string(),
                            name);
}

Result<const Partition*> LocalLog::Impl::find(std::string_view name, PartitionId partition) const {
    RAMPART_TRY(const Topic* topic, find(name));
    if (partition.value() < 0 || partition.value() >= topic->info.options.partitions) {
        return base::make_error(streaming::Reason::kBadPartition,
                                "topic '{}' has {} partitions, not partition {}", name,
                                topic->info.options.partitions, partition.value());
    }
    return &topic->partitions[static_cast<size_t>(partition.value())];
}

std::vector<Request*> LocalLog::Impl::take_group() {
    std::vector<Request*> group;
    size_t bytes = 0;
    while (!queue.empty() && (group.empty() || bytes + queue.front()->bytes <= kMaxGroupBytes)) {
        bytes += queue.front()->bytes;
        group.push_back(queue.front());
        queue.pop_front();
    }
    return group;
}

void LocalLog::Impl::stamp(Request& request) const {
    if (clock == nullptr) return;
    for (auto& encoded : request.encoded) streaming_local::stamp(encoded, appended_at);
}

void LocalLog::Impl::commit(std::span<Request* const> group) {
    if (clock != nullptr) appended_at = std::max(appended_at, clock->now());
    WriteBatch batch;
    Sync sync = Sync::kNever;
    std::map<std::string_view, Topic> after;
    for (Request* request : group) {
        const auto found = find(request->topic);  // it may have been deleted since append() checked
        if (!found) {
            request->result = found.error();
            continue;
        }
        Topic& topic = after.try_emplace((*found)->info.name, **found).first->second;
        if (topic.info.options.fsync == Fsync::kAlways) sync = Sync::kAlways;
        stamp(*request);
        std::vector<Position> positions;
        for (size_t i = 0; i < request->records.size(); ++i) {
            const auto id = request->partition.value_or(
                streaming::partition_of(request->records[i].key, topic.info.options.partitions));
            Partition& partition = topic.partitions[static_cast<size_t>(id.value())];
            positions.push_back({id, Offset(partition.end)});
            batch.put(kRecords, record_key(topic, id, partition.end), request->encoded[i]);
            partition.bytes += request->encoded[i].size();
            ++partition.end;
        }
        request->result = std::move(positions);
    }
    for (const auto& [name, topic] : after) {
        const auto& before = topics.find(name)->second.partitions;
        for (size_t p = 0; p < topic.partitions.size(); ++p) {
            if (topic.partitions[p].end != before[p].end) put_partition(batch, topic, p);
        }
    }
    const Status written = batch.empty() ? base::ok() : db->write(batch, sync);
    const std::lock_guard lock(mutex);
    for (Request* request : group) {
        if (!written && request->result) request->result = written.error();
        request->done = true;
    }
    if (!written) return;
    for (auto& [name, topic] : after)
        topics.find(name)->second.partitions = std::move(topic.partitions);
}

/// Deletes up to kMaxDropped records, all of them before `end`. Requires the write turn.
Result<uint64_t> LocalLog::Impl::drop_some(Topic& topic, size_t index, int64_t end,
                                           const Goes& goes) {
    const PartitionId id(static_cast<int32_t>(index));
    Partition left = topic.partitions[index];
    const int64_t begin = left.begin;
    end = std::min({end, left.end, begin + static_cast<int64_t>(kMaxDropped)});
    if (end <= begin) return uint64_t{0};
    const std::string first = record_key(topic, id, begin);
    RAMPART_RETURN_IF_ERROR(db->scan(kRecords, {first, record_key(topic, id, end)},
                                     [&](std::string_view, std::string_view value) -> Result<bool> {
                                         RAMPART_TRY(const base::TimePoint timestamp,
                                                     timestamp_of(value));
                                         if (!goes(timestamp, left.bytes)) return false;
                                         left.bytes -= std::min<uint64_t>(left.bytes, value.size());
                                         ++left.begin;
                                         return true;
                                     }));
    if (left.begin == begin) return uint64_t{0};
    Topic after = topic;
    after.partitions[index] = left;
    WriteBatch batch;
    batch.erase_range(kRecords, first, record_key(topic, id, left.begin));
    put_partition(batch, after, index);
    RAMPART_RETURN_IF_ERROR(db->write(batch, Sync::kAlways));
    const std::lock_guard lock(mutex);
    topic.partitions[index] = left;
    return static_cast<uint64_t>(left.begin - begin);
}

Result<uint64_t> LocalLog::Impl::drop_from(const TopicInfo& info, PartitionId partition,
                                           base::TimePoint now, std::optional<Offset> needed) {
    const Retention& retention = info.options.retention;
    return drop_from(info, partition,
                     needed ? needed->value() : std::numeric_limits<int64_t>::max(),
                     [&](base::TimePoint timestamp, uint64_t bytes) {
                         const bool old = retention.max_age && timestamp < now - *retention.max_age;
                         return old || (retention.max_bytes && bytes > *retention.max_bytes);
                     });
}

Result<uint64_t> LocalLog::Impl::drop_from(const TopicInfo& info, PartitionId partition,
                                           int64_t end, const Goes& goes) {
    uint64_t dropped = 0;
    while (true) {
        const Turn turn(*this);  // one turn per step, so that appends can run in between
        const auto it = topics.find(info.name);
        if (it == topics.end() || it->second.info.id != info.id) return dropped;
        RAMPART_TRY(const uint64_t n,
                    drop_some(it->second, static_cast<size_t>(partition.value()), end, goes));
        dropped += n;
        if (n < kMaxDropped) return dropped;
    }
}

LocalLog::LocalLog(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
LocalLog::~LocalLog() = default;

Result<std::unique_ptr<LocalLog>> LocalLog::open(const std::filesystem::path& folder,
                                                 const LocalLogOptions& options) {
    storage::OpenOptions database;
    database.budget = options.memory;
    database.environment = options.environment;
    RAMPART_TRY(auto impl, Impl::open(folder, database));
    return std::unique_ptr<LocalLog>(new LocalLog(std::move(impl)));
}

Result<std::unique_ptr<LocalLog>> LocalLog::open_read_only(const std::filesystem::path& folder) {
    RAMPART_TRY(auto impl, Impl::open(folder, {.create = false, .read_only = true}));
    return std::unique_ptr<LocalLog>(new LocalLog(std::move(impl)));
}

Status LocalLog::create_topic(std::string_view name, const TopicOptions& options) {
    RAMPART_RETURN_IF_ERROR(impl_->check_writable());
    RAMPART_RETURN_IF_ERROR(check_options(name, options));
    const Impl::Turn turn(*impl_);
    Topic topic;
    if (const auto it = impl_->topics.find(name); it != impl_->topics.end()) {
        const TopicOptions& present = it->second.info.options;
        if (present.partitions != options.partitions) {
            return base::make_error(Reason::kPartitionsDiffer,
                                    "topic '{}' exists with {} partitions, not {}; "
                                    "the number is fixed, ask for the same or delete the topic",
                                    name, present.partitions, options.partitions);
        }
        if (present == options) return base::ok();
        topic = it->second;
    } else {
        topic.raw_id = base::random_bytes(kTopicIdBytes);
        topic.info = {std::string(name), base::to_hex(topic.raw_id), {}};
        topic.partitions.resize(static_cast<size_t>(options.partitions));
    }
    topic.info.options = options;
    WriteBatch batch;
    put_topic(batch, topic);
    RAMPART_RETURN_IF_ERROR(impl_->db->write(batch, Sync::kAlways));
    const std::lock_guard lock(impl_->mutex);
    impl_->topics.insert_or_assign(std::string(name), std::move(topic));
    return base::ok();
}

Status LocalLog::delete_topic(std::string_view name) {
    RAMPART_RETURN_IF_ERROR(impl_->check_writable());
    const Impl::Turn turn(*impl_);
    RAMPART_TRY(const Topic* topic, impl_->find(name));
    WriteBatch batch;
    erase_topic(batch, *topic);
    RAMPART_RETURN_IF_ERROR(impl_->db->write(batch, Sync::kAlways));
    const std::lock_guard lock(impl_->mutex);
    impl_->topics.erase(impl_->topics.find(name));
    return base::ok();
}

std::vector<TopicInfo> LocalLog::topics() const {
    const std::lock_guard lock(impl_->mutex);
    std::vector<TopicInfo> all;
    for (const auto& [name, topic] : impl_->topics) all.push_back(topic.info);
    return all;
}

Result<uint64_t> LocalLog::drop(base::TimePoint now, const Needed& needed) {
    RAMPART_RETURN_IF_ERROR(impl_->check_writable());
    uint64_t dropped = 0;
    Status status;
    for (const TopicInfo& info : topics()) {
        if (info.options.retention == Retention()) continue;
        for (int32_t p = 0; p < info.options.partitions; ++p) {
            const PartitionId partition(p);
            // called without the turn: the callee may be waiting for it
            const auto limit =
                needed ? needed(info.name, partition) : Result<std::optional<Offset>>(std::nullopt);
            if (!limit) {
                status = limit.error().with_context(info.name);
                continue;
            }
            RAMPART_TRY(const uint64_t n, impl_->drop_from(info, partition, now, *limit));
            dropped += n;
        }
    }
    if (!status) return status.error();
    return dropped;
}

Status LocalLog::erase_until(std::string_view name, PartitionId partition, Offset until) {
    RAMPART_RETURN_IF_ERROR(impl_->check_writable());
    std::optional<Topic> topic;
    {
        const std::lock_guard lock(impl_->mutex);
        RAMPART_RETURN_IF_ERROR(impl_->find(name, partition).map([](const auto*) {}));
        topic = *impl_->find(name).value();
    }
    const auto all = [](base::TimePoint, uint64_t) { return true; };
    RAMPART_RETURN_IF_ERROR(
        impl_->drop_from(topic->info, partition, until.value(), all).map([](uint64_t) {}));
    return impl_->db->compact(
        kRecords, {record_key(*topic, partition, 0), record_key(*topic, partition, until.value())});
}

Result<std::vector<std::string>> LocalLog::check() const {
    const Impl::Turn turn(*impl_);
    return check_records(*impl_->db, impl_->topics);
}

Result<int32_t> LocalLog::partitions(std::string_view name) const {
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const Topic* topic, impl_->find(name));
    return topic->info.options.partitions;
}

Result<std::string> LocalLog::identity(std::string_view name) const {
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const Topic* topic, impl_->find(name));
    return topic->info.id;
}

Result<Offset> LocalLog::begin_offset(std::string_view topic, PartitionId partition) const {
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const Partition* found, impl_->find(topic, partition));
    return Offset(found->begin);
}

Result<Offset> LocalLog::end_offset(std::string_view topic, PartitionId partition) const {
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const Partition* found, impl_->find(topic, partition));
    return Offset(found->end);
}

void LocalLog::stamp_with(const base::Clock& clock) { impl_->clock = &clock; }

void LocalLog::settle() const {
    std::unique_lock lock(impl_->mutex);
    const uint64_t turn = impl_->turns;
    impl_->changed.wait(lock, [&] { return !impl_->writing || impl_->turns != turn; });
}

Result<std::vector<StoredRecord>> LocalLog::read(std::string_view name, PartitionId id, Offset from,
                                                 size_t limit) const {
    std::string first, last;
    {
        const std::lock_guard lock(impl_->mutex);
        RAMPART_TRY(const Partition* partition, impl_->find(name, id));
        RAMPART_RETURN_IF_ERROR(check_position(name, id, *partition, from));
        const auto available = static_cast<uint64_t>(partition->end - from.value());
        if (available == 0 || limit == 0) return std::vector<StoredRecord>();
        const Topic& topic = impl_->topics.find(name)->second;
        first = record_key(topic, id, from.value());
        last = record_key(
            topic, id, from.value() + static_cast<int64_t>(std::min<uint64_t>(available, limit)));
    }
    std::vector<StoredRecord> records;
    size_t bytes = 0;
    int64_t expected = from.value();
    bool dense = true;
    const auto visit = [&](std::string_view key, std::string_view value) -> Result<bool> {
        RAMPART_TRY(const int64_t offset, offset_of(key));
        dense = offset == expected++;
        if (!dense) return false;
        RAMPART_TRY(auto content, decode_record(value));
        records.push_back({id, Offset(offset), std::move(content.record), streaming::Seal::kNone,
                           content.appended_at});
        bytes += value.size();
        return bytes < kMaxReadBytes;
    };
    const Status scanned = impl_->db->scan(kRecords, {first, last}, visit);
    if (!scanned)
        return scanned.error().with_context(
            fmt::format("topic '{}' partition {}", name, id.value()));
    if (dense && !records.empty()) return records;
    const std::lock_guard lock(impl_->mutex);  // retention or deletion overtook the scan, or the
                                               // log is damaged
    RAMPART_TRY(const Partition* now, impl_->find(name, id));
    RAMPART_RETURN_IF_ERROR(check_position(name, id, *now, from));
    return base::make_error(streaming::Reason::kCorruptLog,
                            "log '{}', topic '{}', partition {}: the record at offset {} is "
                            "missing",
                            impl_->db->path().string(), name, id.value(), expected);
}

Result<std::vector<Position>> LocalLog::append(std::string_view topic,
                                               std::span<const Record> records) {
    return append_all(topic, {}, records);
}

Result<std::vector<Position>> LocalLog::append_to(std::string_view topic, PartitionId partition,
                                                  std::span<const Record> records) {
    return append_all(topic, partition, records);
}

Result<std::vector<Position>> LocalLog::append_all(std::string_view topic,
                                                   std::optional<PartitionId> partition,
                                                   std::span<const Record> records) {
    RAMPART_RETURN_IF_ERROR(impl_->check_writable());
    RAMPART_RETURN_IF_ERROR(partition ? begin_offset(topic, *partition).map([](Offset) {})
                                      : partitions(topic).map([](int32_t) {}));
    Request request{
        .topic = topic, .partition = partition, .records = records, .encoded = {}, .result = {}};
    for (const Record& record : records) {
        RAMPART_TRY(auto bytes, encode_checked(record, topic, impl_->clock != nullptr));
        request.bytes += bytes.size();
        request.encoded.push_back(std::move(bytes));
    }
    if (request.bytes > kMaxAppendBytes) {
        return base::make_error(streaming::Reason::kBatchTooLarge,
                                "{} bytes for topic '{}' at once; at most {} are allowed",
                                request.bytes, topic, kMaxAppendBytes);
    }
    std::unique_lock lock(impl_->mutex);
    impl_->queue.push_back(&request);
    while (!request.done) {
        impl_->changed.wait(lock, [&] { return request.done || !impl_->writing; });
        if (request.done) break;
        // No thread writes: this one does, for all that wait.
        impl_->writing = true;
        const auto group = impl_->take_group();
        lock.unlock();
        impl_->commit(group);
        lock.lock();
        impl_->end_turn();
    }
    return std::move(request.result);
}

}  // namespace rampart::streaming_local
