#include "rampart/streaming_kafka/kafka_writer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "client.hpp"
#include "in_flight.hpp"
#include "rampart/base/check.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/streaming_kafka/reasons.hpp"
#include "time_header.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Result;
using base::Status;
using streaming::PartitionId;
using streaming::Position;
using streaming::Record;
using namespace std::chrono_literals;

constexpr size_t kBytesPerRecord = 256;  // the library's overhead per record
constexpr Span kPartitionsAge = 10s;
constexpr Span kReplacePause = 1s;
constexpr Span kFirstLook = 200ms, kMostLook = 1s;  // for a leader; each time twice as long
constexpr int kLooks = 2;  // without a leader, in a row: an election takes less
constexpr Span kPurgeTime = 2s;
// Producers of a writer: each has one request in flight to a broker (producer_conf), and a request
// carries records of one partition, so that many partitions would wait for each other.
constexpr int32_t kProducers = 4;
constexpr Span kReportMargin = 5s;  // the library checks for timed out records once a second

/// The records of one append that are in flight. Lives until the last report has arrived, even if
/// the append has given up.
struct Batch {
    /// The records for one partition.
    struct Part {
        PartitionId id;
        size_t bytes = 0, records = 0;
        size_t waiting = 0;  // for a report
        std::optional<InFlight::Load> load;
        std::optional<base::Error> refused;  // nothing of it was sent
        int leaderless = 0;                  // looks in a row that found no leader
    };
    struct Slot {
        Batch* batch = nullptr;
        Part* part = nullptr;
        rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
        int64_t offset = -1;
        bool reported = false;
    };
    Batch(std::shared_ptr<InFlight> from, std::span<const PartitionId> places,
          std::span<const Record* const> records);

    std::mutex mutex;
    std::condition_variable done;
    std::vector<Slot> slots;
    std::map<int32_t, Part> parts;
    size_t waiting = 0;           // for a report
    std::shared_ptr<Batch> self;  // keeps itself alive until then
    const std::shared_ptr<InFlight> in_flight;

    void report(Slot& slot, rd_kafka_resp_err_t error, int64_t offset) {
        std::shared_ptr<Batch> last;  // destroyed after the lock
        const std::lock_guard lock(mutex);
        slot.error = error;
        slot.offset = offset;
        slot.reported = true;
        if (--slot.part->waiting == 0) in_flight->land(*slot.part->load);
        if (--waiting > 0) return;
        last = std::move(self);
        done.notify_all();
    }
};

/// Records a delivery report; called on the thread that runs the client's callbacks.
void on_delivery(rd_kafka_t*, const rd_kafka_message_t* message, void*) {
    auto& slot = *static_cast<Batch::Slot*>(message->_private);
    slot.batch->report(slot, message->err, message->offset);
}

size_t size_of(const Record& record) {
    size_t size = record.key.size() + record.value.size();
    for (const auto& header : record.headers) size += header.name.size() + header.value.size();
    return size;
}

Batch::Batch(std::shared_ptr<InFlight> from, std::span<const PartitionId> places,
             std::span<const Record* const> records)
    : slots(records.size()), in_flight(std::move(from)) {
    for (size_t i = 0; i < records.size(); ++i) {
        Part& part = parts[places[i].value()];
        part.id = places[i];
        part.bytes += size_of(*records[i]) + kBytesPerRecord;
        ++part.records;
        slots[i].batch = this;
        slots[i].part = &part;
    }
}

Status check_records(const KafkaSettings& settings, std::string_view topic,
                     std::span<const Record> records) {
    size_t total = 0;
    for (const Record& record : records) {
        const size_t size = size_of(record);
        if (size > settings.max_record_bytes) {
            return base::make_error(streaming::Reason::kRecordTooLarge,
                                    "a record of {} bytes for topic '{}'; at most {} are allowed",
                                    size, topic, settings.max_record_bytes);
        }
        if (record.headers.size() > kMaxHeaders) {
            return base::make_error(streaming::Reason::kTooManyHeaders,
                                    "a record with {} headers for topic '{}'; at most {}",
                                    record.headers.size(), topic, kMaxHeaders);
        }
        total += size + kBytesPerRecord;
    }
    if (total > settings.writer_bytes) {
        return base::make_error(streaming::Reason::kBatchTooLarge,
                                "{} bytes for topic '{}' at once; at most {} are allowed", total,
                                topic, settings.writer_bytes);
    }
    return base::ok();
}

/// Creates the record's headers, and its time.
rd_kafka_headers_t* new_headers(const Record& record) {
    Headers headers(rd_kafka_headers_new(record.headers.size() + 1));
    const auto add = [&](std::string_view name, std::string_view value) {
        const auto error =
            rd_kafka_header_add(headers.get(), name.data(), static_cast<ssize_t>(name.size()),
                                value.data(), static_cast<ssize_t>(value.size()));
        RAMPART_CHECK(error == RD_KAFKA_RESP_ERR_NO_ERROR, "{}", rd_kafka_err2str(error));
    };
    for (const auto& header : record.headers) add(header.name, header.value);
    add(kTimeHeader, encode_time(record.timestamp));
    return headers.release();
}

rd_kafka_vu_t memory(rd_kafka_vtype_t type, const std::string& bytes) {
    rd_kafka_vu_t value{};
    value.vtype = type;
    value.u.mem.ptr = bytes.empty() ? nullptr : const_cast<char*>(bytes.data());
    value.u.mem.size = bytes.size();
    return value;
}

/// Queues a copy of the record.
rd_kafka_resp_err_t produce(rd_kafka_t* handle, rd_kafka_topic_t* topic, int32_t partition,
                            const Record& record, Batch::Slot& slot) {
    std::array<rd_kafka_vu_t, 7> values{};
    values[0].vtype = RD_KAFKA_VTYPE_RKT;
    values[0].u.rkt = topic;
    values[1].vtype = RD_KAFKA_VTYPE_PARTITION;
    values[1].u.i32 = partition;
    values[2] = memory(RD_KAFKA_VTYPE_KEY, record.key);
    values[3] = memory(RD_KAFKA_VTYPE_VALUE, record.value);
    values[4].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
    values[4].u.i = RD_KAFKA_MSG_F_COPY;
    values[5].vtype = RD_KAFKA_VTYPE_OPAQUE;
    values[5].u.ptr = &slot;
    rd_kafka_headers_t* headers = new_headers(record);
    values[6].vtype = RD_KAFKA_VTYPE_HEADERS;
    values[6].u.headers = headers;
    const KafkaError error(rd_kafka_produceva(handle, values.data(), values.size()));
    if (!error) return RD_KAFKA_RESP_ERR_NO_ERROR;
    rd_kafka_headers_destroy(headers);
    return rd_kafka_error_code(error.get());
}

}  // namespace

/// How long an append waits for its partitions.
enum class Patience {
    kDelivery,  // for what the broker says of each record
    kStall,     // for stall_limit: the others wait for the slowest
};

/// One producer, for some of the partitions of each topic. Thread safe.
struct Lane {
    const KafkaSettings settings;
    const std::shared_ptr<std::atomic<size_t>> bytes;  // in flight, of all lanes
    std::mutex mutex;                                  // guards all members below
    std::shared_ptr<Client> client;
    std::shared_ptr<InFlight> in_flight;  // with this client: one that failed may not report
    Instant opened_at{};
    struct Partitions {
        int32_t count = 0;
        Instant asked_at{};
    };
    std::map<std::string, Partitions, std::less<>> topics;

    Lane(KafkaSettings of_all, std::shared_ptr<std::atomic<size_t>> bytes_of_all)
        : settings(std::move(of_all)), bytes(std::move(bytes_of_all)) {}
    Status open();
    ~Lane();

    struct Producer {
        std::shared_ptr<Client> client;
        std::shared_ptr<InFlight> in_flight;
    };
    /// Records for which there is room, and until when to wait for what becomes of them.
    struct Admitted {
        std::shared_ptr<Client> producer;
        rd_kafka_topic_t* topic = nullptr;
        std::shared_ptr<Batch> batch;
        Instant deadline{};
    };
    Result<Producer> current();
    Result<int32_t> partitions(std::string_view topic);
    /// Reserves room for the records. By Patience::kStall, a partition that has none fails its own
    /// records only.
    Result<Admitted> admit(std::string_view topic, std::span<const PartitionId> places,
                           std::span<const Record* const> records, Patience patience);
    static void give_back(const Admitted& admitted);
    static void send(const Admitted& admitted, std::span<const Record* const> records);
    std::vector<Result<Position>> finish(std::string_view topic, const Admitted& admitted) const;
    static void wait(std::string_view topic, const Admitted& admitted);
    static std::vector<Result<Position>> results(const Client& producer, std::string_view topic,
                                                 Batch& batch);
};

struct KafkaWriter::Impl {
    KafkaSettings settings;
    std::vector<std::unique_ptr<Lane>> lanes;

    /// One producer writes all records of a partition, for as long as this object lives.
    size_t lane_of(PartitionId partition) const {
        return static_cast<size_t>(partition.value()) % lanes.size();
    }
    Result<int32_t> partitions(std::string_view topic) const;
    Result<std::vector<Result<Position>>> append(std::string_view topic,
                                                 std::optional<PartitionId> partition,
                                                 std::span<const Record> records,
                                                 Patience patience) const;
    Result<std::vector<Position>> append_all(std::string_view topic,
                                             std::optional<PartitionId> partition,
                                             std::span<const Record> records) const;
};

/// Returns the client, or a new one in place of one with a fatal error.
Result<Lane::Producer> Lane::current() {
    const std::lock_guard lock(mutex);
    if (!client->failed()) return Producer{client, in_flight};
    if (now() - opened_at < kReplacePause) {
        return base::make_error(Reason::kProducerFailed,
                                "Kafka at {}: the producer had a fatal error a moment ago; a new "
                                "one is made within a second, retry",
                                settings.bootstrap_servers);
    }
    RAMPART_TRY(client, Client::open(settings, Client::Kind::kProducer, on_delivery));
    in_flight->retire();
    in_flight = std::make_shared<InFlight>(settings, bytes);
    opened_at = now();
    return Producer{client, in_flight};
}

/// Returns the number of partitions, queried every ten seconds. One thread queries while the others
/// continue with the known number; all do if no broker answers, as the append itself then reports
/// the error.
Result<int32_t> Lane::partitions(std::string_view topic) {
    RAMPART_TRY(const auto producer, current());
    {
        const std::lock_guard lock(mutex);
        const auto known = topics.find(topic);
        if (known != topics.end()) {
            if (now() - known->second.asked_at < kPartitionsAge) return known->second.count;
            known->second.asked_at = now();
        }
    }
    const auto state = producer.client->describe(topic);
    const std::lock_guard lock(mutex);
    const auto known = topics.find(topic);
    if (state) {
        topics.insert_or_assign(std::string(topic), Partitions{state->partitions, now()});
        return state->partitions;
    }
    if (known != topics.end() && state.error().code == base::ErrorCode::kUnavailable) {
        return known->second.count;
    }
    if (known != topics.end()) topics.erase(known);
    return state.error();
}

Result<Lane::Admitted> Lane::admit(std::string_view topic, std::span<const PartitionId> places,
                                   std::span<const Record* const> records, Patience patience) {
    RAMPART_TRY(const auto producer, current());
    RAMPART_TRY(rd_kafka_topic_t * handle, producer.client->topic(topic));
    const Span limit = patience == Patience::kStall
                           ? Span(to_chrono(settings.stall_limit))
                           : to_chrono(settings.delivery_timeout) + kReportMargin;
    Admitted admitted{producer.client, handle,
                      std::make_shared<Batch>(producer.in_flight, places, records), now() + limit};
    Batch& batch = *admitted.batch;
    std::optional<base::Error> first;
    for (auto& [id, part] : batch.parts) {
        auto load = batch.in_flight->admit(topic, part.id, part.bytes);
        if (load) {
            part.load = *load;
            batch.waiting += part.waiting = part.records;
            continue;
        }
        part.refused = load.error();
        if (!first) first = load.error();
    }
    if (!first || patience == Patience::kStall) return admitted;
    give_back(admitted);
    return *first;
}

void Lane::give_back(const Admitted& admitted) {
    for (const auto& [id, part] : admitted.batch->parts)
        if (part.load) admitted.batch->in_flight->land(*part.load);
}

/// Queues what was admitted.
void Lane::send(const Admitted& admitted, std::span<const Record* const> records) {
    Batch& batch = *admitted.batch;
    if (batch.waiting > 0) batch.self = admitted.batch;
    auto failure = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (size_t i = 0; i < records.size(); ++i) {
        auto& slot = batch.slots[i];
        if (slot.part->refused) continue;
        // neither a record that cannot be queued nor the later ones: a partition must not get a gap
        if (failure == RD_KAFKA_RESP_ERR_NO_ERROR) {
            failure = produce(admitted.producer->handle(), admitted.topic, slot.part->id.value(),
                              *records[i], slot);
            if (failure != RD_KAFKA_RESP_ERR_NO_ERROR) batch.report(slot, failure, -1);
        } else {
            batch.report(slot, RD_KAFKA_RESP_ERR__PARTIAL, -1);
        }
    }
}

/// Waits for the reports; for a partition that has no leader, not longer than it takes to see that.
void Lane::wait(std::string_view topic, const Admitted& admitted) {
    const Instant deadline = admitted.deadline;
    Batch& batch = *admitted.batch;
    const auto all_reported = [&] { return batch.waiting == 0; };
    std::unique_lock lock(batch.mutex);
    for (Span look = kFirstLook;; look = std::min(2 * look, kMostLook)) {
        if (batch.done.wait_until(lock, std::min(deadline, now() + look), all_reported)) return;
        if (now() >= deadline) break;
        lock.unlock();
        const auto state =
            admitted.producer->describe(topic, std::min(deadline, now() + kFirstLook));
        lock.lock();
        bool hope = false;  // for what has not been reported
        for (auto& [id, part] : batch.parts) {
            if (part.waiting == 0) continue;
            const bool leaderless = state && state->leaderless.contains(id);
            part.leaderless = leaderless ? part.leaderless + 1 : 0;
            hope |= part.leaderless < kLooks;
        }
        if (!hope) break;
    }
    for (const auto& [id, part] : batch.parts)
        if (part.waiting > 0) batch.in_flight->give_up(*part.load);
}

std::vector<Result<Position>> Lane::results(const Client& producer, std::string_view topic,
                                            Batch& batch) {
    std::vector<Result<Position>> results;
    const std::lock_guard lock(batch.mutex);
    for (const auto& slot : batch.slots) {
        const auto& part = *slot.part;
        const auto what =
            fmt::format("{} records for topic '{}', partition {}", part.records, topic, part.id);
        if (part.refused) {
            results.emplace_back(*part.refused);
        } else if (slot.reported && slot.error != RD_KAFKA_RESP_ERR_NO_ERROR) {
            results.emplace_back(producer.error(slot.error, what));
        } else if (slot.reported && slot.offset < 0) {
            results.emplace_back(
                base::make_error(Reason::kNoOffset, "{}: acknowledged without an offset", what));
        } else if (slot.reported) {
            results.emplace_back(Position{part.id, streaming::Offset(slot.offset)});
        } else if (part.leaderless > 0) {
            results.emplace_back(Client::no_leader(topic, part.id.value())
                                     .with_context(fmt::format("{} records", part.records)));
        } else {
            results.emplace_back(producer.error(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, what));
        }
    }
    return results;
}

std::vector<Result<Position>> Lane::finish(std::string_view topic, const Admitted& admitted) const {
    wait(topic, admitted);
    auto all = results(*admitted.producer, topic, *admitted.batch);
    const auto acknowledged = [](const auto& one) { return one.has_value(); };
    if (std::all_of(all.begin(), all.end(), acknowledged)) admitted.producer->succeeded();
    return all;
}

Status Lane::open() {
    in_flight = std::make_shared<InFlight>(settings, bytes);
    RAMPART_TRY(client, Client::open(settings, Client::Kind::kProducer, on_delivery));
    opened_at = now();
    return base::ok();
}

Lane::~Lane() {
    if (!client) return;
    // what calls have given up
    rd_kafka_purge(client->handle(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    in_flight->wait_for_none(kPurgeTime);
}

/// Returns what any producer says: one that failed a moment ago stops only its own partitions.
Result<int32_t> KafkaWriter::Impl::partitions(std::string_view topic) const {
    auto count = lanes.front()->partitions(topic);
    for (size_t i = 1; i < lanes.size() && !count; ++i) {
        if (!count.error().is(Reason::kProducerFailed)) break;
        count = lanes[i]->partitions(topic);
    }
    return count;
}

Result<std::vector<Result<Position>>> KafkaWriter::Impl::append(
    std::string_view topic, std::optional<PartitionId> partition, std::span<const Record> records,
    Patience patience) const {
    RAMPART_RETURN_IF_ERROR(check_records(settings, topic, records));
    RAMPART_TRY(const int32_t count, partitions(topic));
    if (partition && (partition->value() < 0 || partition->value() >= count)) {
        return base::make_error(streaming::Reason::kBadPartition,
                                "topic '{}' has partitions 0 to {}, and no {}", topic, count - 1,
                                *partition);
    }
    struct Share {
        std::vector<PartitionId> places;
        std::vector<const Record*> records;
        std::vector<size_t> at;  // positions in `records` of the call
    };
    std::vector<Share> shares(lanes.size());
    for (size_t i = 0; i < records.size(); ++i) {
        const auto place = partition ? *partition : streaming::partition_of(records[i].key, count);
        Share& share = shares[lane_of(place)];
        share.places.push_back(place);
        share.records.push_back(&records[i]);
        share.at.push_back(i);
    }
    std::vector<std::optional<Result<Lane::Admitted>>> admitted(lanes.size());
    std::optional<base::Error> refused;
    for (size_t i = 0; i < lanes.size(); ++i) {
        const Share& share = shares[i];
        if (share.at.empty()) continue;
        admitted[i] = lanes[i]->admit(topic, share.places, share.records, patience);
        if (!*admitted[i] && !refused) refused = admitted[i]->error();
    }
    if (refused && patience == Patience::kDelivery) {  // nothing is written
        for (const auto& one : admitted)
            if (one && *one) Lane::give_back(**one);
        return *refused;
    }
    for (size_t i = 0; i < lanes.size(); ++i)
        if (admitted[i] && *admitted[i]) Lane::send(**admitted[i], shares[i].records);
    std::vector<Result<Position>> all(records.size(), Position{});
    for (size_t i = 0; i < lanes.size(); ++i) {
        if (!admitted[i]) continue;
        const auto& at = shares[i].at;
        if (!*admitted[i]) {
            for (const size_t k : at) all[k] = admitted[i]->error();
            continue;
        }
        auto results = lanes[i]->finish(topic, **admitted[i]);
        for (size_t k = 0; k < at.size(); ++k) all[at[k]] = std::move(results[k]);
    }
    return all;
}

Result<std::vector<Position>> KafkaWriter::Impl::append_all(std::string_view topic,
                                                            std::optional<PartitionId> partition,
                                                            std::span<const Record> records) const {
    RAMPART_TRY(auto results, append(topic, partition, records, Patience::kDelivery));
    std::vector<Position> positions;
    for (auto& result : results) {
        RAMPART_TRY(const Position position, std::move(result));
        positions.push_back(position);
    }
    return positions;
}

KafkaWriter::KafkaWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KafkaWriter::~KafkaWriter() = default;

Result<std::unique_ptr<KafkaWriter>> KafkaWriter::open(const KafkaSettings& settings) {
    auto impl = std::make_unique<Impl>();
    impl->settings = settings;
    const auto bytes = std::make_shared<std::atomic<size_t>>(0);
    for (int32_t i = 0; i < kProducers; ++i) {
        auto& lane = impl->lanes.emplace_back(std::make_unique<Lane>(settings, bytes));
        RAMPART_RETURN_IF_ERROR(lane->open());
    }
    return std::unique_ptr<KafkaWriter>(new KafkaWriter(std::move(impl)));
}

Result<std::vector<Position>> KafkaWriter::append(std::string_view topic,
                                                  std::span<const Record> records) {
    return impl_->append_all(topic, std::nullopt, records);
}

std::vector<Result<Position>> KafkaWriter::append_each(std::string_view topic,
                                                       std::span<const Record> records) {
    auto results = impl_->append(topic, std::nullopt, records, Patience::kStall);
    if (results) return *std::move(results);
    return std::vector<Result<Position>>(records.size(), results.error());
}

Result<std::vector<Position>> KafkaWriter::append_to(std::string_view topic, PartitionId partition,
                                                     std::span<const Record> records) {
    return impl_->append_all(topic, partition, records);
}

}  // namespace rampart::streaming_kafka
