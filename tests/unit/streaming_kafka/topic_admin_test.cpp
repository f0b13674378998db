#include "rampart/streaming_kafka/topic_admin.hpp"

#include <gtest/gtest.h>

#include "support/kafka_mock.hpp"

// The mock knows no admin requests: what they do is tested against the real broker
// (tests/integration/kafka_topics_test.cpp).
namespace rampart::streaming_kafka {
namespace {

using base::ErrorCode;
using streaming::TopicSpec;
using support::KafkaMock;

template <class T>
void expect_error(const base::Result<T>& result, ErrorCode code, std::string_view reason) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, code) << result.error().message;
    EXPECT_EQ(result.error().reason, reason) << result.error().message;
}

std::vector<TopicSpec> one(int32_t partitions) {
    TopicSpec spec;
    spec.name = "t";
    spec.partitions = partitions;
    return {spec};
}

TEST(TopicAdmin, RefusesNumbersOutOfRangeBeforeItAsks) {
    KafkaSettings settings;
    settings.bootstrap_servers = "127.0.0.1:1";
    const auto admin = TopicAdmin::open(settings).value();
    for (const int32_t bad : {0, -1, kMaxPartitions + 1}) {
        expect_error(admin->create(one(bad), 1), ErrorCode::kOutOfRange, "bad_partitions");
    }
    for (const int bad : {0, -1, 17}) {
        expect_error(admin->create(one(1), bad), ErrorCode::kOutOfRange, "bad_replication");
    }
}

TEST(TopicAdmin, AClusterThatDoesNotAnswerIsUnavailable) {
    KafkaSettings settings;
    settings.bootstrap_servers = "127.0.0.1:1";
    settings.request_timeout = base::Duration::seconds(1);
    const auto admin = TopicAdmin::open(settings).value();
    expect_error(admin->create(one(kMaxPartitions), 16), ErrorCode::kUnavailable, "no_broker");
    expect_error(admin->check(one(1)), ErrorCode::kUnavailable, "no_broker");
}

TEST(TopicAdmin, ATopicThatIsNotThereIsNoError) {
    const KafkaMock mock;
    mock.create("t", 1);
    mock.topic_error("t", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    const auto admin = TopicAdmin::open(mock.settings()).value();
    const auto checks = admin->check(one(1));
    ASSERT_TRUE(checks) << checks.error().message;
    ASSERT_EQ(checks->size(), 1u);
    EXPECT_EQ(checks->front().name, "t");
    EXPECT_FALSE(checks->front().exists);
    EXPECT_FALSE(checks->front().good());
}

// The mock lacks the request, and no controller answers, which the library would wait for.
TEST(TopicAdmin, ABrokerThatDoesNotShowSettingsShowsPartitionsAndReplicas) {
    const KafkaMock mock;
    mock.create("t", 2);
    auto settings = mock.settings();
    settings.request_timeout = base::Duration::seconds(30);  // it would be a "timeout"
    const auto admin = TopicAdmin::open(settings).value();
    expect_error(admin->check(one(1)), ErrorCode::kFailedPrecondition, "broker_too_old");
    const auto found = admin->look(one(1));
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_FALSE(found->settings);
    EXPECT_EQ(found->settings.error().reason, "broker_too_old");
    const auto& topic = found->topics.front();
    EXPECT_TRUE(topic.exists);
    EXPECT_EQ(topic.replicas, 1);
    ASSERT_EQ(topic.differences.size(), 1u) << "of its settings nothing is known";
    EXPECT_EQ(topic.differences[0].property, "partitions");
    EXPECT_EQ(topic.differences[0].found, "2");
}

TEST(TopicAdmin, ABrokerThatIsDownIsPassedOverForOneThatAnswers) {
    const KafkaMock mock(2);
    mock.create("t", 2);
    mock.lead("t", streaming::PartitionId(0), 1);
    mock.lead("t", streaming::PartitionId(1), 2);
    mock.down(1);
    auto settings = mock.settings();
    settings.request_timeout = base::Duration::seconds(2);
    const auto found = TopicAdmin::open(settings).value()->look(one(2));
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_FALSE(found->settings);
    EXPECT_EQ(found->settings.error().reason, "broker_too_old") << "it is the second that says so";
}

}  // namespace
}  // namespace rampart::streaming_kafka
