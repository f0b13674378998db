#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "rampart/streaming/record.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::support {

/// The mock Kafka cluster of librdkafka, with brokers 1, 2, …, each with its port: for errors that
/// a real broker does not make on demand. It keeps 5 MiB per partition and forgets older records,
/// creates a topic when it is asked for, has no real transactions and no admin requests, and delays
/// every fetch at the end of a partition for its full time.
class KafkaMock {
  public:
    explicit KafkaMock(int brokers = 1) : brokers_(brokers) {
        std::array<char, 512> why{};
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        rd_kafka_conf_set_log_cb(conf, nullptr);
        handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why.data(), why.size());
        EXPECT_NE(handle_, nullptr) << why.data();
        cluster_ = rd_kafka_mock_cluster_new(handle_, brokers);
        EXPECT_NE(cluster_, nullptr);
    }
    ~KafkaMock() {
        rd_kafka_mock_cluster_destroy(cluster_);
        rd_kafka_destroy(handle_);
    }
    KafkaMock(const KafkaMock&) = delete;
    KafkaMock& operator=(const KafkaMock&) = delete;

    rd_kafka_mock_cluster_t* cluster() const { return cluster_; }
    int brokers() const { return brokers_; }
    std::string bootstrap() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
    streaming_kafka::KafkaSettings settings() const {
        streaming_kafka::KafkaSettings settings;
        settings.bootstrap_servers = bootstrap();
        return settings;
    }
    void create(const std::string& topic, int partitions) const {
        ASSERT_EQ(rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, brokers_), 0);
    }
    /// Writes into partition 0, as another program does.
    void produce(const std::string& topic, const std::string& key, const std::string& value,
                 int64_t time_millis) const {
        std::array<char, 512> why{};
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap().c_str(), why.data(), why.size());
        auto* producer = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why.data(), why.size());
        ASSERT_NE(producer, nullptr) << why.data();
        std::array<rd_kafka_vu_t, 6> values{};
        values[0].vtype = RD_KAFKA_VTYPE_TOPIC;
        values[0].u.cstr = topic.c_str();
        values[1].vtype = RD_KAFKA_VTYPE_PARTITION;
        values[1].u.i32 = 0;
        values[2].vtype = RD_KAFKA_VTYPE_KEY;
        values[2].u.mem = {const_cast<char*>(key.data()), key.size()};
        values[3].vtype = RD_KAFKA_VTYPE_VALUE;
        values[3].u.mem = {const_cast<char*>(value.data()), value.size()};
        values[4].vtype = RD_KAFKA_VTYPE_TIMESTAMP;
        values[4].u.i64 = time_millis;
        values[5].vtype = RD_KAFKA_VTYPE_MSGFLAGS;
        values[5].u.i = RD_KAFKA_MSG_F_COPY;
        EXPECT_EQ(rd_kafka_produceva(producer, values.data(), values.size()), nullptr);
        EXPECT_EQ(rd_kafka_flush(producer, 10'000), RD_KAFKA_RESP_ERR_NO_ERROR);
        rd_kafka_destroy(producer);
    }
    void down(int32_t broker = 1) const { rd_kafka_mock_broker_set_down(cluster_, broker); }
    void up(int32_t broker = 1) const { rd_kafka_mock_broker_set_up(cluster_, broker); }
    void lead(const std::string& topic, streaming::PartitionId partition, int32_t broker) const {
        rd_kafka_mock_partition_set_leader(cluster_, topic.c_str(), partition.value(), broker);
    }
    /// Fails answers about the topic, until it is set to NO_ERROR.
    void topic_error(const std::string& topic, rd_kafka_resp_err_t error) const {
        rd_kafka_mock_topic_set_error(cluster_, topic.c_str(), error);
    }
    void rtt(std::chrono::milliseconds millis) const {
        rd_kafka_mock_broker_set_rtt(cluster_, 1, static_cast<int>(millis.count()));
    }
    /// An error code of the Kafka protocol.
    enum Api : int16_t { kProduce = 0, kFetch = 1, kListOffsets = 2, kMetadata = 3, kInitPid = 22 };
    /// Fails the next `count` requests of the kind.
    void fail(Api api, rd_kafka_resp_err_t error, size_t count = 1) const {
        const std::vector<rd_kafka_resp_err_t> errors(count, error);
        rd_kafka_mock_push_request_errors_array(cluster_, api, count, errors.data());
    }
    /// Fails the next `count` requests of the kind at one broker.
    void fail_at(int32_t broker, Api api, rd_kafka_resp_err_t error, size_t count) const {
        for (size_t i = 0; i < count; ++i)
            rd_kafka_mock_broker_push_request_error_rtts(cluster_, broker, api, 1, error, 0);
    }
    /// Makes broker 1 answer the next request of the kind late, and with an error unless it is
    /// NO_ERROR.
    void answer_late(Api api, std::chrono::milliseconds rtt, rd_kafka_resp_err_t error) const {
        rd_kafka_mock_broker_push_request_error_rtts(cluster_, 1, api, 1, error,
                                                     static_cast<int>(rtt.count()));
    }
    /// Waits until the request that it answers late has arrived.
    void wait_for_late(Api api) const {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        for (size_t left = 1; left > 0;) {
            ASSERT_EQ(rd_kafka_mock_broker_error_stack_cnt(cluster_, 1, api, &left),
                      RD_KAFKA_RESP_ERR_NO_ERROR);
            ASSERT_LT(std::chrono::steady_clock::now(), deadline);
        }
    }

  private:
    const int brokers_;
    rd_kafka_t* handle_ = nullptr;
    rd_kafka_mock_cluster_t* cluster_ = nullptr;
};

}  // namespace rampart::support
