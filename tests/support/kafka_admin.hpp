#pragma once

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "rampart/streaming/record.hpp"

namespace rampart::support {

/// Changes to a Kafka cluster by an operator or another program, unknown to the code under test.
class KafkaAdmin {
  public:
    explicit KafkaAdmin(const std::string& bootstrap) {
        handle_.reset(new_producer({{"bootstrap.servers", bootstrap}}));
        queue_.reset(rd_kafka_queue_new(handle_.get()));
    }

    void delete_topic(const std::string& name) const {
        auto* topic = rd_kafka_DeleteTopic_new(name.c_str());
        rd_kafka_DeleteTopics(handle_.get(), &topic, 1, nullptr, queue_.get());
        rd_kafka_DeleteTopic_destroy(topic);
        expect_done("DeleteTopics");
        EXPECT_TRUE(soon([&] { return !has_topic(name); })) << name << " is still there";
    }
    void add_partitions(const std::string& name, size_t total) const {
        std::array<char, 256> why{};
        auto* more = rd_kafka_NewPartitions_new(name.c_str(), total, why.data(), why.size());
        ASSERT_NE(more, nullptr) << why.data();
        rd_kafka_CreatePartitions(handle_.get(), &more, 1, nullptr, queue_.get());
        rd_kafka_NewPartitions_destroy(more);
        expect_done("CreatePartitions");
    }
    void delete_records_before(const std::string& name, streaming::PartitionId partition,
                               streaming::Offset offset) const {
        auto* list = rd_kafka_topic_partition_list_new(1);
        rd_kafka_topic_partition_list_add(list, name.c_str(), partition.value())->offset =
            offset.value();
        auto* deletion = rd_kafka_DeleteRecords_new(list);
        rd_kafka_topic_partition_list_destroy(list);
        rd_kafka_DeleteRecords(handle_.get(), &deletion, 1, nullptr, queue_.get());
        rd_kafka_DeleteRecords_destroy(deletion);
        expect_done("DeleteRecords");
    }

    /// Sets settings of a topic. All others go back to the broker's defaults.
    void set(const std::string& name, const std::map<std::string, std::string>& settings) const {
        auto* topic = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name.c_str());
        for (const auto& [setting, value] : settings) {
            ASSERT_EQ(rd_kafka_ConfigResource_set_config(topic, setting.c_str(), value.c_str()),
                      RD_KAFKA_RESP_ERR_NO_ERROR);
        }
        rd_kafka_AlterConfigs(handle_.get(), &topic, 1, nullptr, queue_.get());
        rd_kafka_ConfigResource_destroy(topic);
        expect_done("AlterConfigs");
        EXPECT_TRUE(soon([&] { return shows(name, settings); })) << name << " has other settings";
    }

    /// Adds an entry to the access control lists, for all hosts.
    void add_acl(rd_kafka_ResourceType_t kind, const std::string& name,
                 rd_kafka_ResourcePatternType_t pattern, const std::string& principal,
                 rd_kafka_AclOperation_t operation, rd_kafka_AclPermissionType_t permission) const {
        std::array<char, 256> why{};
        auto* entry = rd_kafka_AclBinding_new(kind, name.c_str(), pattern, principal.c_str(), "*",
                                              operation, permission, why.data(), why.size());
        ASSERT_NE(entry, nullptr) << why.data();
        rd_kafka_CreateAcls(handle_.get(), &entry, 1, nullptr, queue_.get());
        rd_kafka_AclBinding_destroy(entry);
        expect_done("CreateAcls");
    }
    /// Removes all entries about a principal.
    void remove_acls(const std::string& principal) const {
        std::array<char, 256> why{};
        auto* all = rd_kafka_AclBindingFilter_new(
            RD_KAFKA_RESOURCE_ANY, nullptr, RD_KAFKA_RESOURCE_PATTERN_ANY, principal.c_str(),
            nullptr, RD_KAFKA_ACL_OPERATION_ANY, RD_KAFKA_ACL_PERMISSION_TYPE_ANY, why.data(),
            why.size());
        ASSERT_NE(all, nullptr) << why.data();
        rd_kafka_DeleteAcls(handle_.get(), &all, 1, nullptr, queue_.get());
        rd_kafka_AclBinding_destroy(all);
        expect_done("DeleteAcls");
    }

    struct Destroy {
        void operator()(rd_kafka_t* handle) const { rd_kafka_destroy(handle); }
        void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
        void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
    };
    using Handle = std::unique_ptr<rd_kafka_t, Destroy>;

    static rd_kafka_t* new_producer(
        std::initializer_list<std::pair<const char*, std::string>> properties) {
        std::array<char, 512> why{};
        rd_kafka_conf_t* conf = rd_kafka_conf_new();
        for (const auto& [name, value] : properties) {
            EXPECT_EQ(rd_kafka_conf_set(conf, name, value.c_str(), why.data(), why.size()),
                      RD_KAFKA_CONF_OK)
                << why.data();
        }
        auto* handle = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why.data(), why.size());
        EXPECT_NE(handle, nullptr) << why.data();
        return handle;
    }

  private:
    using Event = std::unique_ptr<rd_kafka_event_t, Destroy>;

    /// Waits for what a broker does shortly after the controller has answered.
    template <class Holds>
    static bool soon(const Holds& holds) {
        for (int i = 0; i < 3000; ++i) {
            if (holds()) return true;
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return false;
    }
    bool has_topic(const std::string& name) const {
        auto* topic = rd_kafka_topic_new(handle_.get(), name.c_str(), nullptr);
        const rd_kafka_metadata_t* metadata = nullptr;
        EXPECT_EQ(rd_kafka_metadata(handle_.get(), 0, topic, &metadata, 30'000),
                  RD_KAFKA_RESP_ERR_NO_ERROR);
        const bool has = metadata == nullptr || metadata->topic_cnt != 1 ||
                         metadata->topics[0].err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
        if (metadata != nullptr) rd_kafka_metadata_destroy(metadata);
        rd_kafka_topic_destroy(topic);
        return has;
    }
    bool shows(const std::string& name, const std::map<std::string, std::string>& settings) const {
        auto* topic = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name.c_str());
        rd_kafka_DescribeConfigs(handle_.get(), &topic, 1, nullptr, queue_.get());
        rd_kafka_ConfigResource_destroy(topic);
        const Event event = await("DescribeConfigs");
        size_t count = 0;
        const auto* all = rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event.get()), &count);
        if (count != 1) return false;
        size_t entries = 0, same = 0;
        const auto* found = rd_kafka_ConfigResource_configs(all[0], &entries);
        for (size_t i = 0; i < entries; ++i) {
            const auto wanted = settings.find(rd_kafka_ConfigEntry_name(found[i]));
            const char* value = rd_kafka_ConfigEntry_value(found[i]);
            if (wanted != settings.end() && value != nullptr && wanted->second == value) ++same;
        }
        return same == settings.size();
    }
    Event await(const char* what) const {
        Event event(rd_kafka_queue_poll(queue_.get(), 30'000));
        EXPECT_NE(event, nullptr) << what << " was not answered";
        EXPECT_EQ(rd_kafka_event_error(event.get()), RD_KAFKA_RESP_ERR_NO_ERROR)
            << what << ": " << rd_kafka_event_error_string(event.get());
        return event;
    }
    void expect_done(const char* what) const { (void)await(what); }
    Handle handle_;
    std::unique_ptr<rd_kafka_queue_t, Destroy> queue_;  // destroyed first
};

/// Writes transactions; Kafka marks their ends with its own records.
class TransactionalProducer {
  public:
    TransactionalProducer(const std::string& bootstrap, const std::string& id)
        : handle_(KafkaAdmin::new_producer(
              {{"bootstrap.servers", bootstrap}, {"transactional.id", id}})) {
        expect_ok(rd_kafka_init_transactions(handle_.get(), 30'000));
    }
    void begin() const { expect_ok(rd_kafka_begin_transaction(handle_.get())); }
    void produce(const std::string& topic, int32_t partition, const std::string& value) const {
        EXPECT_EQ(rd_kafka_producev(handle_.get(), RD_KAFKA_V_TOPIC(topic.c_str()),
                                    RD_KAFKA_V_PARTITION(partition),
                                    RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                                    RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                                    RD_KAFKA_V_END),
                  RD_KAFKA_RESP_ERR_NO_ERROR);
        EXPECT_EQ(rd_kafka_flush(handle_.get(), 30'000), RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    void commit() const { expect_ok(rd_kafka_commit_transaction(handle_.get(), 30'000)); }
    void abort() const { expect_ok(rd_kafka_abort_transaction(handle_.get(), 30'000)); }

  private:
    static void expect_ok(rd_kafka_error_t* error) {
        if (error == nullptr) return;
        ADD_FAILURE() << rd_kafka_error_string(error);
        rd_kafka_error_destroy(error);
    }
    KafkaAdmin::Handle handle_;
};

}  // namespace rampart::support
