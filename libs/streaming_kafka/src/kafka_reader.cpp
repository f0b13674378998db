#include "rampart/streaming_kafka/kafka_reader.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>

#include "client.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/reasons.hpp"
#include "time_header.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Result;
using base::Status;
using streaming::Offset;
using streaming::PartitionId;
using streaming::StoredRecord;
using namespace std::chrono_literals;

constexpr Span kStateAge = 1s;
constexpr Span kBufferAge = 15s;     // then a cursor is no longer read
constexpr int kFirstPatienceMs = 2;  // first wait for a fetch that is due; doubled each time
constexpr int kMostPatienceMs = 100;

std::string_view bytes_of(const void* data, size_t size) {
    return data == nullptr ? std::string_view()
                           : std::string_view(static_cast<const char*>(data), size);
}

StoredRecord to_record(const rd_kafka_message_t& message) {
    StoredRecord stored{PartitionId(message.partition), Offset(message.offset), {}};
    stored.record.key = bytes_of(message.key, message.key_len);
    stored.record.value = bytes_of(message.payload, message.len);
    rd_kafka_timestamp_type_t type;
    const int64_t millis = rd_kafka_message_timestamp(&message, &type);
    // -1: written without a time
    if (millis >= 0) stored.appended_at = base::TimePoint::from_micros(millis * 1000);
    stored.record.timestamp = base::TimePoint::from_micros(std::max<int64_t>(millis, 0) * 1000);
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return stored;
    const char* name = nullptr;
    const void* value = nullptr;
    size_t size = 0;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
        const auto bytes = bytes_of(value, size);
        const auto time = name == kTimeHeader ? decode_time(bytes) : std::nullopt;
        if (time) {
            stored.record.timestamp = *time;
        } else {
            stored.record.headers.push_back({name, std::string(bytes)});
        }
    }
    return stored;
}

size_t size_of(const streaming::Record& record) {
    size_t size = record.key.size() + record.value.size();
    for (const auto& header : record.headers) size += header.name.size() + header.value.size();
    return size;
}

/// State of the fetching of one partition by one client. Each start has its own queue, so that no
/// record fetched from an earlier position can follow.
struct Cursor {
    std::mutex mutex;    // one caller at a time
    size_t fetcher = 0;  // which client fetches; each fetches a partition from one position
    Instant used{};      // when it was chosen last; guarded by Topic::mutex
    Queue queue;         // null: not fetching
    // No record lies in [low, high), and the queue continues at high.
    int64_t low = 0, high = 0;
    bool begun = false;    // a first event has arrived since the start
    uint64_t cluster = 0;  // the cluster of the fetch: Topic::cluster

    bool is_at(int64_t from) const { return queue && from >= low && from <= high; }
    /// Returns whether the log may have been made anew since what is buffered was fetched.
    bool old() const { return now() - used > kBufferAge; }
};
using Cursors = std::array<Cursor, kPositions>;

struct Topic {
    std::string name;
    std::mutex asking;  // one query at a time; waiting threads use its result
    std::mutex mutex;   // guards the members below; never held during a query
    Client::TopicState state;
    std::optional<Instant> known_at;
    uint64_t cluster = 0;             // number of changes of the cluster id
    std::map<int32_t, int64_t> ends;  // ends of partitions, as last asked for
    std::map<int32_t, std::unique_ptr<Cursors>> cursors;
    // number of partitions known to each fetching client
    std::array<std::atomic<int32_t>, kPositions> fetchable{};
};

}  // namespace

struct KafkaReader::Impl {
    // A broker answers one connection's requests in order, so a query would wait behind a fetch
    // that waits for records: a connection of its own.
    std::unique_ptr<Client> asking;
    std::mutex mutex;  // guards the members below
    // Opened when they are needed, as most readers of a partition are at one position.
    std::array<std::unique_ptr<Client>, kPositions> fetching;
    std::map<std::string, std::unique_ptr<Topic>, std::less<>> topics;

    Result<Client*> fetcher(size_t number);
    Result<Topic*> topic(std::string_view name);
    Result<Client::TopicState> state(Topic& topic, std::optional<Span> age);
    Status check_partition(Topic& topic, PartitionId partition);
    static Result<int64_t> noted(Topic& topic, int32_t partition, Result<int64_t> offset);
    static Result<int64_t> noted_end(Topic& topic, int32_t partition, Result<int64_t> end);
    Result<int64_t> seen_end(Topic& topic, int32_t partition, const Cursor& cursor);
    struct Chosen {
        Cursor* cursor;
        std::unique_lock<std::mutex> lock;
        uint64_t cluster;  // the present one
        bool old = false;
    };
    static Chosen choose(Topic& topic, int32_t partition, int64_t from);

    Status start(Topic& topic, int32_t partition, Cursor& cursor, int64_t from);
    void stop(Topic& topic, int32_t partition, Cursor& cursor);
    /// Calls what is given with a cursor of the partition for `from`, locked, of today's cluster.
    auto with_cursor(Topic& topic, int32_t partition, int64_t from, const auto& work) {
        const auto [cursor, lock, cluster, old] = choose(topic, partition, from);
        if (cursor->cluster != cluster || old) stop(topic, partition, *cursor);
        cursor->cluster = cluster;
        return work(*cursor);
    }
    Status start_unless_at(Topic& topic, int32_t partition, Cursor& cursor, int64_t from);
    struct Read {
        std::vector<StoredRecord> records;
        size_t bytes = 0;
        std::optional<int64_t> skipped;  // the first missing offset
    };
    Result<bool> take(Topic& topic, int32_t partition, Cursor& cursor, int timeout_ms, Read& read);
    Status take_all(Topic& topic, int32_t partition, Cursor& cursor, size_t limit, Read& read);
    Result<int64_t> end_for(Client& client, Topic& topic, int32_t partition, Cursor& cursor);
    Status wait(Topic& topic, int32_t partition, Cursor& cursor, Read& read);
    Status check_skip(Topic& topic, int32_t partition, Cursor& cursor, Read& read);
    base::Error moved(const Topic& topic, int32_t partition, int64_t at);
    Result<std::vector<StoredRecord>> read(Topic& topic, int32_t partition, Cursor& cursor,
                                           int64_t from, size_t limit);
};

Result<Client*> KafkaReader::Impl::fetcher(size_t number) {
    const std::lock_guard lock(mutex);
    auto& client = fetching.at(number);
    if (!client) {
        RAMPART_TRY(client, Client::open(asking->settings(), Client::Kind::kConsumer));
    }
    return client.get();
}

Result<Topic*> KafkaReader::Impl::topic(std::string_view name) {
    RAMPART_TRY(Client * client, fetcher(0));
    RAMPART_RETURN_IF_ERROR(client->topic(name));
    const std::lock_guard lock(mutex);
    auto found = topics.find(name);
    if (found == topics.end()) {
        found = topics.emplace(std::string(name), std::make_unique<Topic>()).first;
        found->second->name = name;
    }
    return found->second.get();
}

/// Returns the known state of the topic if it is not older than `age` (nullopt: any age); otherwise
/// queries it.
Result<Client::TopicState> KafkaReader::Impl::state(Topic& topic, std::optional<Span> age) {
    const auto known = [&]() -> std::optional<Client::TopicState> {
        const std::lock_guard lock(topic.mutex);
        if (!topic.known_at || (age && now() - *topic.known_at > *age)) return std::nullopt;
        return topic.state;
    };
    if (auto state = known()) return *std::move(state);
    const std::lock_guard turn(topic.asking);
    if (auto state = known()) return *std::move(state);
    auto state = asking->describe(topic.name);
    const std::lock_guard lock(topic.mutex);
    if (!state) {
        topic.known_at.reset();
        return state;
    }
    if (state->cluster_id != topic.state.cluster_id) ++topic.cluster;
    topic.state = *state;
    topic.known_at = now();
    return state;
}

Status KafkaReader::Impl::check_partition(Topic& topic, PartitionId partition) {
    RAMPART_TRY(const auto state, this->state(topic, std::nullopt));
    int32_t count = state.partitions;
    if (partition.value() >= count) {  // added since?
        RAMPART_TRY(const auto fresh, this->state(topic, kStateAge));
        count = fresh.partitions;
    }
    if (partition.value() < 0 || partition.value() >= count) {
        return base::make_error(streaming::Reason::kBadPartition,
                                "topic '{}' has partitions 0 to {}, and no {}", topic.name,
                                count - 1, partition);
    }
    if (!state.leaderless.contains(partition.value())) return base::ok();
    RAMPART_TRY(const auto fresh, this->state(topic, kStateAge));
    if (!fresh.leaderless.contains(partition.value())) return base::ok();
    return Client::no_leader(topic.name, partition.value());
}

/// Returns the end, and remembers it for the next read.
Result<int64_t> KafkaReader::Impl::noted_end(Topic& topic, int32_t partition, Result<int64_t> end) {
    end = noted(topic, partition, std::move(end));
    const std::lock_guard lock(topic.mutex);
    if (end) topic.ends[partition] = *end;
    return end;
}

/// Returns an end that was seen; nothing lies behind it that was not written since.
Result<int64_t> KafkaReader::Impl::seen_end(Topic& topic, int32_t partition, const Cursor& cursor) {
    RAMPART_TRY(Client * client, fetcher(cursor.fetcher));
    int64_t begin = 0, fetched = 0;
    rd_kafka_get_watermark_offsets(client->handle(), topic.name.c_str(), partition, &begin,
                                   &fetched);
    const std::lock_guard lock(topic.mutex);
    const auto asked = topic.ends.find(partition);
    return asked == topic.ends.end() ? fetched : std::max(fetched, asked->second);
}

/// Returns the offset, and remembers that the partition has no leader: the next calls fail at once.
Result<int64_t> KafkaReader::Impl::noted(Topic& topic, int32_t partition, Result<int64_t> offset) {
    if (offset || !offset.error().is(Reason::kNoLeader)) return offset;
    const std::lock_guard lock(topic.mutex);
    topic.state.leaderless.insert(partition);
    return offset;
}

/// Locks a cursor of the partition: one that is at `from`, else one that does not fetch, else the
/// one that was used least recently. One in use is not waited for unless all are.
KafkaReader::Impl::Chosen KafkaReader::Impl::choose(Topic& topic, int32_t partition, int64_t from) {
    std::unique_lock guard(topic.mutex);
    auto& cursors = topic.cursors[partition];
    if (!cursors) {
        cursors = std::make_unique<Cursors>();
        for (size_t i = 0; i < kPositions; ++i) (*cursors)[i].fetcher = i;
    }
    Chosen best{nullptr, {}, topic.cluster};
    const auto rank = [&](const Cursor& cursor) {
        const int place = cursor.is_at(from) && !cursor.old() ? 0 : !cursor.queue ? 1 : 2;
        return std::tuple(place, place == 2 ? cursor.used : Instant());
    };
    for (Cursor& cursor : *cursors) {
        std::unique_lock lock(cursor.mutex, std::try_to_lock);
        if (!lock || (best.cursor != nullptr && rank(cursor) >= rank(*best.cursor))) continue;
        best.cursor = &cursor;
        best.lock = std::move(lock);
    }
    if (best.cursor == nullptr) best.cursor = &cursors->front();
    best.old = best.cursor->old();
    best.cursor->used = now();
    guard.unlock();  // never held while a cursor is waited for
    if (!best.lock) best.lock = std::unique_lock(best.cursor->mutex);
    return best;
}

void KafkaReader::Impl::stop(Topic& topic, int32_t partition, Cursor& cursor) {
    if (!cursor.queue) return;
    const auto client = fetcher(cursor.fetcher);
    const auto handle = client ? (*client)->topic(topic.name) : client.error();
    if (handle) rd_kafka_consume_stop(*handle, partition);
    cursor.queue.reset();
}

Status KafkaReader::Impl::start(Topic& topic, int32_t partition, Cursor& cursor, int64_t from) {
    stop(topic, partition, cursor);
    RAMPART_TRY(Client * client, fetcher(cursor.fetcher));
    RAMPART_TRY(rd_kafka_topic_t * handle, client->topic(topic.name));
    auto& fetchable = topic.fetchable.at(cursor.fetcher);
    if (partition >= fetchable) {
        RAMPART_TRY(const auto state, client->describe(topic.name));
        fetchable = state.partitions;
    }
    Queue queue(rd_kafka_queue_new(client->handle()));
    if (rd_kafka_consume_start_queue(handle, partition, from, queue.get()) != 0) {
        return to_error(rd_kafka_last_error(),
                        fmt::format("topic '{}', partition {}", topic.name, partition));
    }
    cursor.queue = std::move(queue);
    cursor.low = cursor.high = from;
    cursor.begun = false;
    return base::ok();
}

Status KafkaReader::Impl::start_unless_at(Topic& topic, int32_t partition, Cursor& cursor,
                                          int64_t from) {
    return cursor.is_at(from) ? base::ok() : start(topic, partition, cursor, from);
}

/// Returns the error for a position that is not in the log.
base::Error KafkaReader::Impl::moved(const Topic& topic, int32_t partition, int64_t at) {
    const auto begin = asking->begin_offset(topic.name, partition);
    if (!begin) return begin.error();
    const auto end = asking->end_offset(topic.name, partition);
    if (!end) return end.error();
    if (at < *begin) {
        return base::make_error(streaming::Reason::kRetentionGap,
                                "topic '{}', partition {}: the next record to read is {}, but the "
                                "log begins at {}; the records between are gone",
                                topic.name, partition, at, *begin);
    }
    if (at > *end) {
        return base::make_error(streaming::Reason::kOffsetAhead,
                                "topic '{}', partition {}: the next record to read is {}, but "
                                "the log ends at {}: it was truncated or recreated",
                                topic.name, partition, at, *end);
    }
    return to_error(RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
                    fmt::format("topic '{}', partition {}, offset {}", topic.name, partition, at));
}

/// Takes one event off the queue: a record, the notice that there is none up to an offset, or an
/// error. Returns false if none arrived in time.
Result<bool> KafkaReader::Impl::take(Topic& topic, int32_t partition, Cursor& cursor,
                                     int timeout_ms, Read& read) {
    const Message message(rd_kafka_consume_queue(cursor.queue.get(), timeout_ms));
    if (!message) return false;
    switch (message->err) {
        case RD_KAFKA_RESP_ERR_NO_ERROR:
            cursor.begun = true;
            // before the requested offset; seen with clients that were reconnected
            if (message->offset < cursor.high) return true;
            if (message->offset > cursor.high && !read.skipped) read.skipped = cursor.high;
            cursor.low = cursor.high = message->offset + 1;
            read.records.push_back(to_record(*message));
            read.bytes += size_of(read.records.back().record);
            return true;
        case RD_KAFKA_RESP_ERR__PARTITION_EOF:
            cursor.begun = true;
            cursor.high = std::max(cursor.high, message->offset);
            return true;
        default:
            break;
    }
    const int64_t at = cursor.high;
    const auto failure = message->err;
    const std::string what = fmt::format("topic '{}', partition {}", topic.name, partition);
    base::Error error = to_error(failure, what, rd_kafka_message_errstr(message.get()));
    if (error.is(Reason::kOffsetMoved)) {
        error = moved(topic, partition, at);
        if (error.is(Reason::kOffsetMoved) && !cursor.begun) {
            // The position is in the log. The broker answered a fetch of the previous start; the
            // library does not separate such an answer, and stops fetching.
            RAMPART_RETURN_IF_ERROR(start(topic, partition, cursor, at));
            return true;
        }
    } else if (error.code == base::ErrorCode::kNotFound) {
        // or the fetching client does not know it yet: it queries again before it restarts
        topic.fetchable.at(cursor.fetcher) = 0;
        const auto there = asking->describe(topic.name);
        error = !there ? there.error()
                       : base::make_error(Reason::kBrokerError,
                                          "{}: it was created just now; retry", what);
    }
    stop(topic, partition, cursor);
    return error;
}

/// Takes all buffered records. An error after records waits: the next read meets it again.
Status KafkaReader::Impl::take_all(Topic& topic, int32_t partition, Cursor& cursor, size_t limit,
                                   Read& read) {
    while (read.records.size() < limit && read.bytes < kMaxReadBytes) {
        const auto taken = take(topic, partition, cursor, 0, read);
        if (!taken && read.records.empty()) return taken.error();
        if (!taken || !*taken) break;
    }
    return base::ok();
}

/// Queries the present end; a cursor beyond it belongs to another log.
Result<int64_t> KafkaReader::Impl::end_for(Client& client, Topic& topic, int32_t partition,
                                           Cursor& cursor) {
    auto end = noted_end(topic, partition, client.end_offset(topic.name, partition));
    if (end && *end < cursor.high) end = moved(topic, partition, cursor.high);
    if (!end) stop(topic, partition, cursor);
    return end;
}

/// Waits for the first record, or for the end as of now.
Status KafkaReader::Impl::wait(Topic& topic, int32_t partition, Cursor& cursor, Read& read) {
    const Instant deadline = now() + to_chrono(asking->settings().request_timeout);
    // An end that was seen may prove that there is more, never that there is not: more may have
    // arrived, or be held back by a transaction.
    RAMPART_TRY(Client * own, fetcher(cursor.fetcher));
    RAMPART_TRY(int64_t end, seen_end(topic, partition, cursor));
    bool asked = false;
    for (int patience = kFirstPatienceMs;; patience = std::min(2 * patience, kMostPatienceMs)) {
        const bool more = end > cursor.high;
        RAMPART_TRY(const bool taken,
                    take(topic, partition, cursor,
                         more ? std::min(patience, millis_until(deadline)) : 0, read));
        if (!read.records.empty()) break;
        if (taken && now() < deadline) continue;
        if (asked && !more) break;
        if (now() >= deadline) {
            stop(topic, partition, cursor);
            return own->error(RD_KAFKA_RESP_ERR__TIMED_OUT,
                              fmt::format("topic '{}', partition {}, offset {} of {}", topic.name,
                                          partition, cursor.high, end));
        }
        // If there is more and no fetch brings it, the query goes over the fetching connection: the
        // library stops fetching while the queue is full, and checks for room again only when
        // something happens on that connection.
        Client& client = more && asked ? *own : *asking;
        RAMPART_TRY(const int64_t answer, end_for(client, topic, partition, cursor));
        if (!asked) end = answer;
        asked = true;
    }
    own->succeeded();
    return base::ok();
}

/// Checks a gap in the offsets: Kafka's control records and compaction leave gaps; so would a log
/// whose begin has overtaken us. Records before the first missing offset are valid in any case.
Status KafkaReader::Impl::check_skip(Topic& topic, int32_t partition, Cursor& cursor, Read& read) {
    const int64_t skipped = *read.skipped;
    const auto begin = asking->begin_offset(topic.name, partition);
    if (begin && *begin <= skipped) return base::ok();
    stop(topic, partition, cursor);  // the next read starts at the offset in doubt
    std::erase_if(read.records, [&](const auto& r) { return r.offset.value() >= skipped; });
    if (!read.records.empty()) return base::ok();
    return begin ? moved(topic, partition, skipped) : begin.error();
}

Result<std::vector<StoredRecord>> KafkaReader::Impl::read(Topic& topic, int32_t partition,
                                                          Cursor& cursor, int64_t from,
                                                          size_t limit) {
    RAMPART_RETURN_IF_ERROR(start_unless_at(topic, partition, cursor, from));
    Read read;
    RAMPART_RETURN_IF_ERROR(take_all(topic, partition, cursor, limit, read));
    if (read.records.empty()) {
        RAMPART_RETURN_IF_ERROR(wait(topic, partition, cursor, read));
        if (!read.records.empty()) {
            RAMPART_RETURN_IF_ERROR(take_all(topic, partition, cursor, limit, read));
        }
    }
    if (read.skipped) RAMPART_RETURN_IF_ERROR(check_skip(topic, partition, cursor, read));
    return std::move(read.records);
}

KafkaReader::KafkaReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

KafkaReader::~KafkaReader() {
    for (auto& [name, topic] : impl_->topics)
        for (auto& [partition, cursors] : topic->cursors)
            for (Cursor& cursor : *cursors) impl_->stop(*topic, partition, cursor);
}

Result<std::unique_ptr<KafkaReader>> KafkaReader::open(const KafkaSettings& settings) {
    auto impl = std::make_unique<Impl>();
    RAMPART_TRY(impl->asking, Client::open(settings, Client::Kind::kConsumer));
    return std::unique_ptr<KafkaReader>(new KafkaReader(std::move(impl)));
}

Result<int32_t> KafkaReader::partitions(std::string_view name) const {
    RAMPART_TRY(Topic * topic, impl_->topic(name));
    RAMPART_TRY(const auto state, impl_->state(*topic, kStateAge));
    return state.partitions;
}

Result<std::string> KafkaReader::identity(std::string_view name) const {
    RAMPART_TRY(Topic * topic, impl_->topic(name));
    RAMPART_TRY(const auto state, impl_->state(*topic, kStateAge));
    return state.cluster_id + "/" + topic->name;
}

Result<std::vector<StoredRecord>> KafkaReader::read(std::string_view name, PartitionId partition,
                                                    Offset from, size_t limit) const {
    if (from.value() < 0) {
        return base::make_error(Reason::kBadOffset, "topic '{}', partition {}: offset {}", name,
                                partition, from);
    }
    RAMPART_TRY(Topic * topic, impl_->topic(name));
    RAMPART_RETURN_IF_ERROR(impl_->check_partition(*topic, partition));
    if (limit == 0) return std::vector<StoredRecord>();
    return impl_->with_cursor(*topic, partition.value(), from.value(), [&](Cursor& cursor) {
        return impl_->read(*topic, partition.value(), cursor, from.value(), limit);
    });
}

void KafkaReader::prefetch(std::string_view name, std::span<const streaming::Position> from) const {
    const auto topic = impl_->topic(name);
    if (!topic) return;
    for (const auto& [partition, offset] : from) {
        const int32_t id = partition.value();
        if (offset.value() < 0 || !impl_->check_partition(**topic, partition)) continue;
        impl_->with_cursor(**topic, id, offset.value(), [&](Cursor& cursor) {
            static_cast<void>(impl_->start_unless_at(**topic, id, cursor, offset.value()));
        });
    }
}

Result<Offset> KafkaReader::begin_offset(std::string_view name, PartitionId partition) const {
    RAMPART_TRY(Topic * topic, impl_->topic(name));
    RAMPART_RETURN_IF_ERROR(impl_->check_partition(*topic, partition));
    const int32_t id = partition.value();
    RAMPART_TRY(const int64_t offset,
                Impl::noted(*topic, id, impl_->asking->begin_offset(topic->name, id)));
    return Offset(offset);
}

Result<Offset> KafkaReader::end_offset(std::string_view name, PartitionId partition) const {
    RAMPART_TRY(Topic * topic, impl_->topic(name));
    RAMPART_RETURN_IF_ERROR(impl_->check_partition(*topic, partition));
    const int32_t id = partition.value();
    RAMPART_TRY(const int64_t offset,
                Impl::noted_end(*topic, id, impl_->asking->end_offset(topic->name, id)));
    return Offset(offset);
}

std::vector<Result<Offset>> KafkaReader::end_offsets(
    std::string_view name, std::span<const PartitionId> partitions) const {
    std::vector<int32_t> asked;
    const auto topic = impl_->topic(name);
    for (const PartitionId partition : partitions) {
        if (topic && impl_->check_partition(**topic, partition)) asked.push_back(partition.value());
    }
    std::map<int32_t, int64_t> known;
    if (asked.size() > 1) known = impl_->asking->end_offsets((*topic)->name, asked);
    std::vector<Result<Offset>> ends;
    for (const PartitionId partition : partitions) {
        const auto found = known.find(partition.value());
        // what the one request does not say is asked for alone, which says why
        ends.push_back(
            found == known.end()
                ? end_offset(name, partition)
                : Impl::noted_end(**topic, partition.value(), found->second).map([](int64_t end) {
                      return Offset(end);
                  }));
    }
    return ends;
}

}  // namespace rampart::streaming_kafka
