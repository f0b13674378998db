// Topics on a real broker: created, compared, and the commands for it.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/topics.hpp"
#include "support/kafka_admin.hpp"
#include "support/kafka_broker.hpp"
#include "support/places.hpp"
#include "support/program.hpp"

namespace rampart::streaming_kafka {
namespace {

namespace json = boost::json;
using base::Duration;
using base::ErrorCode;
using streaming::TopicSpec;
using test_support::run_program;
using test_support::shared_kafka;
using test_support::unique_topic;

class KafkaTopics : public testing::Test {
  protected:
    void SetUp() override {
        RAMPART_NEEDS_KAFKA();
        settings.bootstrap_servers = shared_kafka().bootstrap;
        settings.request_timeout = Duration::seconds(15);
        admin = TopicAdmin::open(settings).value();
        spec.name = unique_topic("topics");
        spec.partitions = 3;
    }
    TopicCheck check(const TopicSpec& wanted) {
        const auto checks = admin->check(std::vector{wanted});
        EXPECT_TRUE(checks) << checks.error().message;
        return checks ? checks->front() : TopicCheck{};
    }
    std::vector<std::string> differing(const TopicSpec& wanted) {
        std::vector<std::string> lines;
        for (const auto& d : check(wanted).differences) {
            EXPECT_FALSE(d.remedy.empty());
            lines.push_back(d.property + " " + d.found + " " + d.wanted);
        }
        return lines;
    }

    KafkaSettings settings;
    std::unique_ptr<TopicAdmin> admin;
    TopicSpec spec;
};

TEST_F(KafkaTopics, AllTopicsOfADeploymentAreMadeOnceAndAreAsTheyHaveToBe) {
    const auto specs = wire::Topics::with_prefix(unique_topic("all") + "-").specs(3);
    const auto before = admin->check(specs);
    ASSERT_TRUE(before) << before.error().message;
    for (const auto& topic : *before) EXPECT_FALSE(topic.exists) << topic.name;
    const auto made = admin->create(specs, 1);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(made->size(), specs.size());
    const auto after = admin->check(specs);
    ASSERT_TRUE(after) << after.error().message;
    for (size_t i = 0; i < specs.size(); ++i) {
        const auto& topic = (*after)[i];
        EXPECT_TRUE(topic.good()) << topic.name << ": " << topic.differences.size();
        EXPECT_EQ(topic.name, specs[i].name);
        EXPECT_EQ(topic.partitions, specs[i].partitions);
        EXPECT_EQ(topic.replicas, 1);
    }
    const auto again = admin->create(specs, 1);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(again->empty());
}

TEST_F(KafkaTopics, EveryDifferenceIsListedWithWhatToDo) {
    spec.max_age = Duration::days(30);
    ASSERT_TRUE(admin->create(std::vector{spec}, 1));
    EXPECT_TRUE(differing(spec).empty());
    TopicSpec wanted = spec;
    wanted.partitions = 4;
    EXPECT_EQ(differing(wanted), std::vector<std::string>{"partitions 3 4"});
    wanted = spec;
    wanted.max_age.reset();
    wanted.max_record_bytes = 2048;
    EXPECT_EQ(differing(wanted), (std::vector<std::string>{"max.message.bytes 1048576 2048",
                                                           "retention.ms 2592000000 -1"}));
    EXPECT_NE(check(wanted).differences[1].remedy.find("--add-config retention.ms=-1"),
              std::string::npos);
    wanted = spec;
    wanted.cleanup = TopicSpec::Cleanup::kCompact;
    EXPECT_EQ(differing(wanted), std::vector<std::string>{"cleanup.policy delete compact"});
}

TEST_F(KafkaTopics, WhatTheBrokerRefusesIsSaidInItsWords) {
    const auto refused = admin->create(std::vector{spec}, 3);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(refused.error().reason, "refused_by_broker");
    EXPECT_NE(refused.error().message.find(spec.name), std::string::npos);
    EXPECT_NE(refused.error().message.find("replica"), std::string::npos);
    EXPECT_FALSE(check(spec).exists);
    spec.name = "not a name";
    EXPECT_EQ(admin->create(std::vector{spec}, 1).error().reason, "bad_topic");
}

TEST_F(KafkaTopics, TheCommandsMakeAndCompare) {
    const auto prefix = unique_topic("cli") + "-";
    const auto run = [&](const std::string& words) {
        return run_program(test_support::bin_dir() + "/rampart topics " + words + " --bootstrap " +
                           settings.bootstrap_servers + " --prefix " + prefix);
    };
    const auto missing = run("check --partitions 2");
    EXPECT_EQ(missing.exit_code, 1) << missing.output;
    EXPECT_NE(missing.output.find("missing"), std::string::npos) << missing.output;
    const auto made = run("create --partitions 2 --replication 1");
    EXPECT_EQ(made.exit_code, 0) << made.output;
    EXPECT_NE(made.output.find(prefix + "decisions"), std::string::npos) << made.output;
    EXPECT_EQ(run("check --partitions 2").exit_code, 0);
    const auto differs = run("check --partitions 5 --json");
    EXPECT_EQ(differs.exit_code, 1) << differs.output;
    const auto document = json::parse(differs.output).as_object();
    EXPECT_EQ(document.at("good"), json::value(false));
    size_t count = 0;
    for (const auto& topic : document.at("topics").as_array()) {
        for (const auto& difference : topic.as_object().at("differences").as_array()) {
            EXPECT_EQ(difference.as_object().at("property"), json::value("partitions"));
            EXPECT_EQ(difference.as_object().at("found"), json::value("2"));
            ++count;
        }
    }
    EXPECT_EQ(count, 3u);
}

TEST_F(KafkaTopics, AClusterThatIsNotThereIsAnErrorOfTheCommand) {
    const auto lost = run_program(test_support::bin_dir() +
                                  "/rampart topics check --bootstrap 127.0.0.1:1 --timeout 1");
    EXPECT_EQ(lost.exit_code, 4) << lost.output;
    EXPECT_NE(lost.output.find("127.0.0.1:1"), std::string::npos) << lost.output;
    const auto misuse =
        run_program(test_support::bin_dir() + "/rampart topics check --bootstrap nowhere");
    EXPECT_EQ(misuse.exit_code, 2) << misuse.output;
    EXPECT_NE(misuse.output.find("host:port"), std::string::npos) << misuse.output;
}

}  // namespace
}  // namespace rampart::streaming_kafka
