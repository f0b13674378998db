#include "rampart/streaming_kafka/topic_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rampart::streaming_kafka {
namespace {

using base::Duration;
using streaming::TopicSpec;
using testing::ElementsAre;
using testing::IsEmpty;

TopicSpec kept_for_ever() {
    TopicSpec spec;
    spec.name = "t";
    spec.partitions = 3;
    return spec;
}
TopicSpec kept_for_days() {
    auto spec = kept_for_ever();
    spec.max_age = Duration::days(30);
    return spec;
}
/// Kept for 30 days; nodes read what is up to 7 days old.
TopicSpec read_for_days() {
    auto spec = kept_for_days();
    spec.broker_time = true;
    spec.least_age = Duration::days(7);
    return spec;
}
TopicSpec compacted() {
    auto spec = kept_for_ever();
    spec.cleanup = TopicSpec::Cleanup::kCompact;
    spec.compact_within = Duration::days(1);
    return spec;
}

/// Returns the differences of a topic with one setting that is not as it has to be; one that loses
/// records begins with "!".
std::vector<std::string> differing(const TopicSpec& spec, const std::string& property,
                                   const std::string& value, int32_t replicas = 3) {
    auto found = required_configs(spec, replicas);
    found.insert({"segment.ms", "1"});  // not one of ours
    found[property] = value;
    std::vector<std::string> lines;
    for (const auto& d : differences_of(spec, spec.partitions, replicas, found)) {
        lines.push_back(
            fmt::format("{}{} {} {}", d.loses_records ? "!" : "", d.property, d.found, d.wanted));
        const bool may_be_law = property == "retention.ms" && !spec.max_age;
        EXPECT_EQ(
            d.remedy,
            (may_be_law ? "if the law sets this end, declare it by kafka.kept_months; else " : "") +
                ("kafka-configs.sh --alter --entity-type topics --entity-name t "
                 "--add-config " +
                 d.property + "=" + d.wanted));
    }
    return lines;
}

TEST(TopicRules, ATopicAsItHasToBeDiffersInNothing) {
    for (const auto& spec : {kept_for_ever(), kept_for_days(), read_for_days(), compacted()})
        for (const int replicas : {1, 2, 3, 5})
            EXPECT_THAT(differences_of(spec, 3, replicas, required_configs(spec, replicas)),
                        IsEmpty());
}

TEST(TopicRules, WhatIsAcknowledgedIsOnTwoMachinesWhereThereAreTwo) {
    const std::map<int, std::string> wanted{{1, "1"}, {2, "2"}, {3, "2"}, {4, "3"}};
    for (const auto& [replicas, in_sync] : wanted)
        EXPECT_EQ(required_configs(compacted(), replicas).at("min.insync.replicas"), in_sync)
            << replicas;
    const auto spec = kept_for_ever();
    EXPECT_THAT(differing(spec, "min.insync.replicas", "1"),
                ElementsAre("!min.insync.replicas 1 2"));
    EXPECT_THAT(differing(spec, "min.insync.replicas", "1", 2),
                ElementsAre("!min.insync.replicas 1 2"));
    EXPECT_THAT(differing(spec, "min.insync.replicas", "9", 11),
                ElementsAre("!min.insync.replicas 9 10"))
        << "numbers are compared, not letters";
    for (const std::string no_number : {"", "x", "2x", "99999999999999999999"})
        EXPECT_THAT(differing(spec, "min.insync.replicas", no_number),
                    ElementsAre("!min.insync.replicas " + no_number + " 2"));
    EXPECT_THAT(differing(spec, "min.insync.replicas", "3"), ElementsAre("min.insync.replicas 3 2"))
        << "it only refuses more";
}

TEST(TopicRules, AReplicaThatLagsMayNotLead) {
    for (const auto& spec : {kept_for_ever(), kept_for_days(), compacted()})
        EXPECT_THAT(differing(spec, "unclean.leader.election.enable", "true"),
                    ElementsAre("!unclean.leader.election.enable true false"));
}

TEST(TopicRules, AnotherCleanupLosesRecords) {
    for (const std::string other : {"compact", "compact,delete", ""}) {
        EXPECT_THAT(differing(kept_for_ever(), "cleanup.policy", other),
                    ElementsAre("!cleanup.policy " + other + " delete"));
    }
    for (const std::string other : {"delete", "compact,delete"})
        EXPECT_THAT(differing(compacted(), "cleanup.policy", other),
                    ElementsAre("!cleanup.policy " + other + " compact"));
}

TEST(TopicRules, ABoundOfWhatIsKeptForEverLosesRecords) {
    EXPECT_THAT(differing(kept_for_ever(), "retention.ms", "63072000000"),
                ElementsAre("!retention.ms 63072000000 -1"));
    EXPECT_THAT(differing(kept_for_ever(), "retention.bytes", "1073741824"),
                ElementsAre("!retention.bytes 1073741824 -1"));
    // what no node reads, deleted sooner or later than it has to be
    for (const std::string other : {"1000", "-1"})
        EXPECT_THAT(differing(kept_for_days(), "retention.ms", other),
                    ElementsAre("retention.ms " + other + " 2592000000"));
    EXPECT_THAT(differing(kept_for_days(), "retention.bytes", "1"),
                ElementsAre("retention.bytes 1 -1"));
    // a compacted topic has no retention
    EXPECT_THAT(differing(compacted(), "retention.ms", "1"), IsEmpty());
}

TEST(TopicRules, ABoundBelowWhatNodesReadLosesRecords) {
    const auto spec = read_for_days();
    for (const std::string enough : {"604800000", "9999999999", "-1"})
        EXPECT_THAT(differing(spec, "retention.ms", enough),
                    ElementsAre("retention.ms " + enough + " 2592000000"));
    for (const std::string less : {"604799999", "0", "-2", ""})
        EXPECT_THAT(differing(spec, "retention.ms", less),
                    ElementsAre("!retention.ms " + less + " 2592000000"));
    EXPECT_THAT(differing(spec, "retention.bytes", "1099511627776"),
                ElementsAre("!retention.bytes 1099511627776 -1"))
        << "a size says no time";
    EXPECT_THAT(differing(spec, "message.timestamp.type", "CreateTime"),
                ElementsAre("!message.timestamp.type CreateTime LogAppendTime"))
        << "a writer may say that its record is old";
}

TEST(TopicRules, OtherDifferencesLoseNothing) {
    EXPECT_THAT(differing(compacted(), "max.compaction.lag.ms", "9223372036854775807"),
                ElementsAre("max.compaction.lag.ms 9223372036854775807 86400000"));
    EXPECT_THAT(differing(kept_for_ever(), "max.message.bytes", "2048"),
                ElementsAre("max.message.bytes 2048 1048576"));
    EXPECT_THAT(differing(kept_for_ever(), "message.timestamp.type", "LogAppendTime"),
                ElementsAre("message.timestamp.type LogAppendTime CreateTime"));
    const auto spec = kept_for_ever();
    const auto more = differences_of(spec, 4, 3, required_configs(spec, 3));
    ASSERT_EQ(more.size(), 1u);
    EXPECT_EQ(more[0].property, "partitions");
    EXPECT_EQ(more[0].found, "4");
    EXPECT_FALSE(more[0].loses_records);
    EXPECT_NE(more[0].remedy.find("configure 4"), std::string::npos);
}

TEST(TopicRules, WhatLosesRecordsIsRefusedByNameAndWhatLosesNoneIsNot) {
    const std::vector<TopicCheck> topics{
        {"good", true, 1, 3, {}},
        {"missing", false, 0, 0, {}},
        {"other", true, 1, 3, {{"max.message.bytes", "1", "2", "larger", false}}}};
    EXPECT_TRUE(check_keeps_records(topics, false));
    auto bad = topics;
    bad[0].differences = {{"cleanup.policy", "delete", "compact", "compact it", true}};
    bad[2].differences.push_back({"min.insync.replicas", "1", "2", "more", true});
    for (const bool one_replica : {false, true}) {
        const auto refused = check_keeps_records(bad, one_replica);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, base::ErrorCode::kFailedPrecondition);
        EXPECT_EQ(refused.error().reason, "topic_loses_records");
        EXPECT_EQ(refused.error().message,
                  "records that the cluster has acknowledged can be lost: topic 'good': "
                  "cleanup.policy is delete, has to be compact: compact it; topic 'other': "
                  "min.insync.replicas is 1, has to be 2: more");
    }
}

TEST(TopicRules, OneReplicaIsForDevelopment) {
    const std::vector<TopicCheck> one{
        {"one", true, 1, 1, {}}, {"two", true, 1, 2, {}}, {"uno", true, 1, 1, {}}};
    const auto refused = check_keeps_records(one, false);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("topic 'one', 'uno': replicas is 1, has to be"),
              std::string::npos)
        << refused.error().message;
    EXPECT_EQ(refused.error().message.find("'two'"), std::string::npos);
    EXPECT_NE(refused.error().message.find("kafka.development = true"), std::string::npos);
    EXPECT_TRUE(check_keeps_records(one, true));
}

}  // namespace
}  // namespace rampart::streaming_kafka
