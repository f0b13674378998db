// What the settings of its topics have to do with the start of a node.
#include <gmock/gmock.h>

#include <functional>

#include "rampart/http/router.hpp"
#include "support/kafka_admin.hpp"
#include "two_nodes.hpp"

namespace rampart::rampartd {
namespace {

using testing::HasSubstr;

class TopicsAtStart : public TwoNodes {
  protected:
    using Change = std::function<void(streaming::TopicSpec&)>;
    /// Makes the topics of a node, one of which is changed before it is made.
    Settings make(const std::string& topic = "", const Change& change = {}) {
        auto settings = first();
        settings.log.topic_prefix = test_support::unique_topic("start") + ".";
        settings.log.development = true;
        auto specs = wire::Topics::with_prefix(settings.log.topic_prefix).specs(4);
        for (auto& spec : specs)
            if (spec.name == settings.log.topic_prefix + topic) change(spec);
        const auto admin = streaming_kafka::TopicAdmin::open(settings.log.kafka).value();
        EXPECT_TRUE(admin->create(specs, 1));
        return settings;
    }
    /// Returns why a node does not start; "": it does.
    static std::string refused(const Settings& settings) {
        const auto node = Node::open(settings);
        if (node) return "";
        EXPECT_EQ(node.error().reason, "topic_loses_records") << node.error().message;
        return node.error().message;
    }
    std::string start(const std::string& topic, const Change& change) {
        return refused(make(topic, change));
    }
    static std::string ask(Node& node, const std::string& path) {
        http::Router router;
        node.add_routes(router);
        http::Request request;
        request.method = "GET";
        request.path = path;
        return router.handle(std::move(request)).body;
    }
};

TEST_F(TopicsAtStart, WhatLosesAcknowledgedRecordsRefusesIt) {
    const auto week = base::Duration::days(7);
    const auto decisions = start("decisions", [&](auto& spec) { spec.max_age = week; });
    EXPECT_THAT(decisions, HasSubstr("decisions': retention.ms is 604800000, has to be -1: "));
    EXPECT_THAT(decisions, HasSubstr("--add-config retention.ms=-1"));
    const auto policies = start(
        "policies", [](auto& spec) { spec.cleanup = streaming::TopicSpec::Cleanup::kDelete; });
    EXPECT_THAT(policies, HasSubstr("policies': cleanup.policy is delete, has to be compact: "));
    const auto outcomes = start(
        "outcomes", [](auto& spec) { spec.cleanup = streaming::TopicSpec::Cleanup::kCompact; });
    EXPECT_THAT(outcomes, HasSubstr("outcomes': cleanup.policy is compact, has to be delete: "));
}

TEST_F(TopicsAtStart, AReplicaThatLagsMayNotLead) {
    const auto settings = make();
    ASSERT_EQ(refused(settings), "");
    const support::KafkaAdmin cluster(settings.log.kafka.bootstrap_servers);
    const auto topic = settings.log.topic_prefix + "person-keys";
    cluster.set(topic, {{"unclean.leader.election.enable", "true"}});
    EXPECT_THAT(refused(settings),
                HasSubstr("person-keys': unclean.leader.election.enable is true, has to be false"));
    const auto checked = test_support::run_program(fmt::format(
        "{}/rampart topics check --bootstrap {} --prefix {} --partitions 4",
        test_support::bin_dir(), settings.log.kafka.bootstrap_servers, settings.log.topic_prefix));
    EXPECT_EQ(checked.exit_code, 1) << checked.output;
    EXPECT_THAT(checked.output,
                HasSubstr("unclean.leader.election.enable is true, has to be false (loses "
                          "acknowledged records)"));
}

TEST_F(TopicsAtStart, OneReplicaIsForDevelopmentOnlyAndDegradesTheNode) {
    auto settings = make();
    settings.log.development = false;
    const auto why = refused(settings);
    EXPECT_THAT(why, HasSubstr("leases', '" + settings.log.topic_prefix +
                               "person-keys': replicas is 1, has to be 3, or 2 at least: "));
    EXPECT_THAT(why, HasSubstr("kafka.development = true"));
    EXPECT_FALSE(fs::exists(settings.store / "partitions")) << "it has begun with nothing";
    settings.log.development = true;
    const auto node = open(settings);
    const auto ready = ask(*node, "/readyz");
    EXPECT_THAT(ready, HasSubstr("\"degraded\":true"));
    EXPECT_THAT(ready, HasSubstr("\"topics\""));
    EXPECT_THAT(ready, HasSubstr("replicas is 1"));
    EXPECT_THAT(ask(*node, "/metrics"), HasSubstr("\nrampart_check_ok{check=\"topics\"} 0\n"));
}

TEST_F(TopicsAtStart, WhatDiffersElseIsNoReasonNotToStart) {
    EXPECT_EQ(start("applications", [](auto& spec) { spec.max_age = base::Duration::days(90); }),
              "");
    EXPECT_EQ(start("person-keys", [](auto& spec) { spec.compact_within.reset(); }), "");
}

TEST_F(TopicsAtStart, AnEndThatTheFileDeclaresIsNoFaultAndAnEarlierOneIs) {
    auto settings = make();
    settings.log.kept_months = 84;
    ASSERT_EQ(refused(settings), "") << "what is kept for longer loses nothing";
    const auto specs =
        wire::Topics::with_prefix(settings.log.topic_prefix).specs(4, settings.log.kept());
    const support::KafkaAdmin cluster(settings.log.kafka.bootstrap_servers);
    /// Makes all topics as they have to be, but for one setting of one of them.
    const auto set = [&](const std::string& topic = "", const std::string& setting = "",
                         const std::string& value = "") {
        for (const auto& spec : specs) {
            auto configs = streaming_kafka::required_configs(spec, 1);
            if (spec.name == settings.log.topic_prefix + topic) configs[setting] = value;
            cluster.set(spec.name, configs);
        }
    };
    set();
    {
        const auto node = Node::open(settings);
        ASSERT_TRUE(node) << node.error().message;
        const auto ready = ask(**node, "/readyz");
        EXPECT_EQ(ready.find("retention"), std::string::npos) << ready;
        ASSERT_TRUE((*node)->release());
    }
    set("outcomes", "retention.ms", "224985599999");
    EXPECT_THAT(refused(settings), HasSubstr("outcomes': retention.ms is 224985599999, has to be "
                                             "224985600000: kafka-configs.sh"));
    set("decisions", "retention.bytes", "1099511627776");
    EXPECT_THAT(refused(settings), HasSubstr("decisions': retention.bytes is 1099511627776"));
    // by the writer's time a record may be too old when it comes
    set("outcomes", "message.timestamp.type", "CreateTime");
    EXPECT_THAT(refused(settings), HasSubstr("outcomes': message.timestamp.type is CreateTime"));
    set("applications", "retention.ms", "604799999");
    EXPECT_THAT(refused(settings), HasSubstr("applications': retention.ms is 604799999, has to be "
                                             "2592000000: "));
    set();
    settings.log.kept_months = 0;
    EXPECT_THAT(refused(settings), HasSubstr("decisions': retention.ms is 224985600000, has to be "
                                             "-1: if the law sets this end, declare it"));
}

}  // namespace
}  // namespace rampart::rampartd
