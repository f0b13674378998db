#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <cstdint>
#include <string>

#include "support/kafka_admin.hpp"

namespace rampart::support {

/// Copies a partition to the topic of the same name in another cluster, as a mirror does: key,
/// value, headers and Kafka's time of each record, in order. Knows nothing of Rampart's records.
class KafkaMirror {
  public:
    KafkaMirror(const std::string& from, const std::string& to)
        : source_(new_consumer(from)),
          target_(KafkaAdmin::new_producer(
              {{"bootstrap.servers", to}, {"acks", "all"}, {"enable.idempotence", "true"}})) {}

    /// Copies all records, or the first `most`. Returns how many.
    size_t copy(const std::string& topic, streaming::PartitionId partition,
                size_t most = SIZE_MAX) const {
        rd_kafka_topic_t* const from = rd_kafka_topic_new(source_.get(), topic.c_str(), nullptr);
        EXPECT_EQ(rd_kafka_consume_start(from, partition.value(), RD_KAFKA_OFFSET_BEGINNING), 0);
        size_t copied = 0;
        while (copied < most) {
            rd_kafka_message_t* const record = rd_kafka_consume(from, partition.value(), kWaitMs);
            if (record == nullptr) {
                ADD_FAILURE() << "no answer about " << topic;
                break;
            }
            const bool at_end = record->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
            if (!at_end) {
                EXPECT_EQ(record->err, RD_KAFKA_RESP_ERR_NO_ERROR);
                send(topic, *record);
                ++copied;
            }
            rd_kafka_message_destroy(record);
            if (at_end) break;
        }
        EXPECT_EQ(rd_kafka_consume_stop(from, partition.value()), 0);
        rd_kafka_topic_destroy(from);
        EXPECT_EQ(rd_kafka_flush(target_.get(), kWaitMs), RD_KAFKA_RESP_ERR_NO_ERROR);
        return copied;
    }

  private:
    static constexpr int kWaitMs = 30'000;

    static rd_kafka_t* new_consumer(const std::string& bootstrap) {
        rd_kafka_conf_t* const conf = rd_kafka_conf_new();
        char why[256];
        EXPECT_EQ(rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap.c_str(), why, sizeof why),
                  RD_KAFKA_CONF_OK);
        EXPECT_EQ(rd_kafka_conf_set(conf, "enable.partition.eof", "true", why, sizeof why),
                  RD_KAFKA_CONF_OK);
        return rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    }

    void send(const std::string& topic, const rd_kafka_message_t& record) const {
        rd_kafka_timestamp_type_t type;
        rd_kafka_headers_t* headers = nullptr;
        if (rd_kafka_message_headers(&record, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR)
            headers = rd_kafka_headers_copy(headers);
        EXPECT_EQ(
            rd_kafka_producev(target_.get(), RD_KAFKA_V_TOPIC(topic.c_str()),
                              RD_KAFKA_V_PARTITION(record.partition),
                              RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK),
                              RD_KAFKA_V_KEY(record.key, record.key_len),
                              RD_KAFKA_V_VALUE(record.payload, record.len),
                              RD_KAFKA_V_TIMESTAMP(rd_kafka_message_timestamp(&record, &type)),
                              RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END),
            RD_KAFKA_RESP_ERR_NO_ERROR);
    }

    KafkaAdmin::Handle source_, target_;
};

}  // namespace rampart::support
