#include "fault/chaos/raw_log.hpp"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <stdexcept>

namespace rampart::chaos {
namespace {

streaming::StoredRecord stored(const rd_kafka_message_t& message) {
    streaming::StoredRecord record;
    record.partition = streaming::PartitionId(message.partition);
    record.offset = streaming::Offset(message.offset);
    record.record.key.assign(static_cast<const char*>(message.key), message.key_len);
    record.record.value.assign(static_cast<const char*>(message.payload), message.len);
    record.record.timestamp =
        base::TimePoint::from_micros(rd_kafka_message_timestamp(&message, nullptr) * 1000);
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(&message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return record;
    const char* name = nullptr;
    const void* value = nullptr;
    size_t size = 0;
    for (size_t i = 0;
         rd_kafka_header_get_all(headers, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
        record.record.headers.push_back({name, std::string(static_cast<const char*>(value), size)});
    }
    return record;
}

}  // namespace

RawLog::RawLog(const std::string& bootstrap_servers, std::string topic) : topic_(std::move(topic)) {
    std::array<char, 512> why{};
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    for (const auto& [name, value] : std::initializer_list<std::pair<const char*, std::string>>{
             {"bootstrap.servers", bootstrap_servers},
             {"group.id", "chaos-oracle"},
             {"enable.auto.commit", "false"},
             {"auto.offset.reset", "error"},
             {"enable.partition.eof", "true"},
             {"fetch.wait.max.ms", "10"},
             {"reconnect.backoff.max.ms", "500"},
             {"check.crcs", "true"}}) {
        if (rd_kafka_conf_set(conf, name, value.c_str(), why.data(), why.size()) !=
            RD_KAFKA_CONF_OK) {
            throw std::runtime_error(why.data());
        }
    }
    rd_kafka_conf_set_log_cb(conf, nullptr);
    handle_ = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why.data(), why.size());
    if (handle_ == nullptr) throw std::runtime_error(why.data());
    rd_kafka_poll_set_consumer(handle_);
}

RawLog::~RawLog() {
    rd_kafka_consumer_close(handle_);
    rd_kafka_destroy(handle_);
}

std::vector<streaming::StoredRecord> RawLog::read(streaming::PartitionId partition,
                                                  streaming::Offset from,
                                                  std::chrono::milliseconds limit) {
    const auto deadline = std::chrono::steady_clock::now() + limit;
    auto* list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic_.c_str(), partition.value())->offset =
        from.value();
    const auto assigned = rd_kafka_assign(handle_, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (assigned != RD_KAFKA_RESP_ERR_NO_ERROR)
        throw std::runtime_error(rd_kafka_err2str(assigned));

    std::vector<streaming::StoredRecord> records;
    std::string last = "no answer";
    while (std::chrono::steady_clock::now() < deadline) {
        const std::unique_ptr<rd_kafka_message_t, decltype(&rd_kafka_message_destroy)> message(
            rd_kafka_consumer_poll(handle_, 100), rd_kafka_message_destroy);
        if (!message) continue;
        if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF &&
            message->partition == partition.value()) {
            rd_kafka_assign(handle_, nullptr);
            return records;
        }
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
            records.push_back(stored(*message));
        } else {
            last = rd_kafka_message_errstr(message.get());  // a broker that was unreachable returns
        }
    }
    throw std::runtime_error(
        fmt::format("partition {} of {} could not be read to its end from {}: {}",
                    partition.value(), topic_, from.value(), last));
}

}  // namespace rampart::chaos
