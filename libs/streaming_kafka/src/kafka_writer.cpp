#include "rampart/streaming_kafka/kafka_writer.hpp"

#include <array>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "client.hpp"
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
constexpr Span kReportMargin = 5s;  // the library checks for timed out records once a second

/// The records of one append that are in flight. Lives until the last report has arrived, even if
/// the append has given up.
struct Batch {
    struct Slot {
        Batch* batch = nullptr;
        rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
        int64_t offset = -1;
    };
    explicit Batch(size_t n) : slots(n, Slot{this}), waiting(n) {}

    std::mutex mutex;
    std::condition_variable done;
    std::vector<Slot> slots;
    size_t waiting;               // for a report
    std::shared_ptr<Batch> self;  // keeps itself alive until then

    void report(Slot& slot, rd_kafka_resp_err_t error, int64_t offset) {
        std::shared_ptr<Batch> last;  // destroyed after the lock
        const std::lock_guard lock(mutex);
        slot.error = error;
        slot.offset = offset;
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

Result<size_t> check_records(const KafkaSettings& settings, std::string_view topic,
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
    return total;
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

struct KafkaWriter::Impl {
    KafkaSettings settings;
    std::mutex mutex;  // guards all members below
    std::shared_ptr<Client> client;
    Instant opened_at{};
    struct Partitions {
        int32_t count = 0;
        Instant asked_at{};
    };
    std::map<std::string, Partitions, std::less<>> topics;
    size_t bytes = 0;          // in flight
    std::list<Instant> since;  // start of each running append, oldest first

    Result<std::shared_ptr<Client>> current();
    Result<int32_t> partitions(Client& producer, std::string_view topic);

    /// Reservation of a part of writer_bytes, for its lifetime.
    class Admission {
      public:
        Admission(Impl& impl, size_t bytes, std::list<Instant>::iterator at)
            : impl_(&impl), bytes_(bytes), at_(at) {}
        Admission(Admission&& other) noexcept
            : impl_(std::exchange(other.impl_, nullptr)), bytes_(other.bytes_), at_(other.at_) {}
        Admission& operator=(Admission&&) = delete;
        ~Admission() {
            if (impl_ == nullptr) return;
            const std::lock_guard lock(impl_->mutex);
            impl_->bytes -= bytes_;
            impl_->since.erase(at_);
        }

      private:
        Impl* impl_;
        size_t bytes_;
        std::list<Instant>::iterator at_;
    };
    Result<Admission> admit(size_t bytes);
    Result<std::vector<Position>> append(std::string_view topic,
                                         std::optional<PartitionId> partition,
                                         std::span<const Record> records);
    Result<std::vector<Position>> send(Client& producer, std::string_view topic,
                                       std::span<const PartitionId> partitions,
                                       std::span<const Record> records);
};

/// Returns the client, or a new one in place of one with a fatal error.
Result<std::shared_ptr<Client>> KafkaWriter::Impl::current() {
    const std::lock_guard lock(mutex);
    if (!client->failed()) return client;
    if (now() - opened_at < kReplacePause) {
        return base::make_error(Reason::kProducerFailed,
                                "Kafka at {}: the producer had a fatal error a moment ago; a new "
                                "one is made within a second, retry",
                                settings.bootstrap_servers);
    }
    RAMPART_TRY(client, Client::open(settings, Client::Kind::kProducer, on_delivery));
    opened_at = now();
    return client;
}

/// Returns the number of partitions, queried every ten seconds. One thread queries while the others
/// continue with the known number; all do if no broker answers, as the append itself then reports
/// the error.
Result<int32_t> KafkaWriter::Impl::partitions(Client& producer, std::string_view topic) {
    {
        const std::lock_guard lock(mutex);
        const auto known = topics.find(topic);
        if (known != topics.end()) {
            if (now() - known->second.asked_at < kPartitionsAge) return known->second.count;
            known->second.asked_at = now();
        }
    }
    const auto state = producer.describe(topic);
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

Result<KafkaWriter::Impl::Admission> KafkaWriter::Impl::admit(size_t wanted) {
    const std::lock_guard lock(mutex);
    const Instant moment = now();
    if (!since.empty() && moment - since.front() > to_chrono(settings.stall_limit)) {
        return base::make_error(
            Reason::kBrokerStalled,
            "Kafka at {} has not acknowledged what was appended {} ms ago; retry later",
            settings.bootstrap_servers,
            std::chrono::duration_cast<std::chrono::milliseconds>(moment - since.front()).count());
    }
    if (bytes + wanted > settings.writer_bytes) {
        return base::make_error(
            Reason::kQueueFull,
            "{} bytes are in flight to Kafka, and {} more would exceed the limit of {}; retry "
            "later",
            bytes, wanted, settings.writer_bytes);
    }
    bytes += wanted;
    return Admission(*this, wanted, since.insert(since.end(), moment));
}

Result<std::vector<Position>> KafkaWriter::Impl::append(std::string_view topic,
                                                        std::optional<PartitionId> partition,
                                                        std::span<const Record> records) {
    RAMPART_TRY(const size_t size, check_records(settings, topic, records));
    RAMPART_TRY(const auto producer, current());
    RAMPART_TRY(const int32_t count, partitions(*producer, topic));
    if (partition && (partition->value() < 0 || partition->value() >= count)) {
        return base::make_error(streaming::Reason::kBadPartition,
                                "topic '{}' has partitions 0 to {}, and no {}", topic, count - 1,
                                *partition);
    }
    if (records.empty()) return std::vector<Position>();
    std::vector<PartitionId> places;
    for (const Record& record : records) {
        places.push_back(partition ? *partition : streaming::partition_of(record.key, count));
    }
    RAMPART_TRY(const Admission admission, admit(size));
    return send(*producer, topic, places, records);
}

Result<std::vector<Position>> KafkaWriter::Impl::send(Client& producer, std::string_view topic,
                                                      std::span<const PartitionId> places,
                                                      std::span<const Record> records) {
    RAMPART_TRY(rd_kafka_topic_t * handle, producer.topic(topic));
    const Instant begin = now();
    const auto batch = std::make_shared<Batch>(records.size());
    batch->self = batch;
    for (size_t i = 0; i < records.size(); ++i) {
        const auto error =
            produce(producer.handle(), handle, places[i].value(), records[i], batch->slots[i]);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
        // neither this record nor the later ones: a partition must not get a gap
        const auto meant = i == 0 ? error : RD_KAFKA_RESP_ERR__PARTIAL;
        for (size_t j = i; j < records.size(); ++j) batch->report(batch->slots[j], meant, -1);
        break;
    }
    std::unique_lock lock(batch->mutex);
    const bool reported =
        batch->done.wait_until(lock, begin + to_chrono(settings.delivery_timeout) + kReportMargin,
                               [&] { return batch->waiting == 0; });
    const std::string what = fmt::format("{} records for topic '{}'", records.size(), topic);
    if (!reported) return producer.error(RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, what);
    std::vector<Position> positions;
    for (size_t i = 0; i < records.size(); ++i) {
        const auto& slot = batch->slots[i];
        if (slot.error != RD_KAFKA_RESP_ERR_NO_ERROR) return producer.error(slot.error, what);
        if (slot.offset < 0) {
            return base::make_error(Reason::kNoOffset, "{}: acknowledged without an offset", what);
        }
        positions.push_back({places[i], streaming::Offset(slot.offset)});
    }
    producer.succeeded();
    return positions;
}

KafkaWriter::KafkaWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KafkaWriter::~KafkaWriter() = default;

Result<std::unique_ptr<KafkaWriter>> KafkaWriter::open(const KafkaSettings& settings) {
    auto impl = std::make_unique<Impl>();
    impl->settings = settings;
    RAMPART_TRY(impl->client, Client::open(settings, Client::Kind::kProducer, on_delivery));
    impl->opened_at = now();
    return std::unique_ptr<KafkaWriter>(new KafkaWriter(std::move(impl)));
}

Result<std::vector<Position>> KafkaWriter::append(std::string_view topic,
                                                  std::span<const Record> records) {
    return impl_->append(topic, std::nullopt, records);
}

Result<std::vector<Position>> KafkaWriter::append_to(std::string_view topic, PartitionId partition,
                                                     std::span<const Record> records) {
    return impl_->append(topic, partition, records);
}

}  // namespace rampart::streaming_kafka
