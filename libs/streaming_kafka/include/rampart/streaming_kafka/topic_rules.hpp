#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming/topic_spec.hpp"

namespace rampart::streaming_kafka {

/// Settings of a topic, by Kafka's names.
using TopicConfigs = std::map<std::string, std::string>;

/// A difference between a topic of the cluster and its specification.
struct Difference {
    std::string property;        // "partitions", or Kafka's name: "retention.ms"
    std::string found, wanted;   // in Kafka's notation
    std::string remedy;          // action for an operator
    bool loses_records = false;  // records that the cluster has acknowledged
    bool operator==(const Difference&) const = default;
};

struct TopicCheck {
    std::string name;
    bool exists = false;
    int32_t partitions = 0, replicas = 0;  // as found; replicas: minimum over the partitions
    std::vector<Difference> differences;
    bool good() const { return exists && differences.empty(); }
};

/// Returns the settings that a topic of so many replicas has to have: cleanup.policy, retention.ms
/// and retention.bytes (for topics deleted by age, or never), max.compaction.lag.ms (where the
/// specification bounds it), max.message.bytes, message.timestamp.type (CreateTime: the time of
/// writing, by the writer's own clock; LogAppendTime where TopicSpec::broker_time asks for it),
/// unclean.leader.election.enable, and min.insync.replicas: one less than the replicas, but 2 at
/// least where there are 2: with it, acknowledged records survive the loss of a broker.
TopicConfigs required_configs(const streaming::TopicSpec& spec, int replicas);

/// Returns how what was found differs. Of these lose records:
/// - another cleanup.policy;
/// - a retention that is bounded where records are kept for ever, or that is bounded by size or
///   below TopicSpec::least_age where there is one;
/// - the writer's times, where TopicSpec::broker_time asks for the broker's and max_age counts;
/// - a replica that lags and may lead (unclean.leader.election.enable);
/// - a lower min.insync.replicas.
std::vector<Difference> differences_of(const streaming::TopicSpec& spec, int32_t partitions,
                                       int32_t replicas, const TopicConfigs& found);

/// Checks that no topic loses records which the cluster has acknowledged: by a difference that
/// does, or as each record is on one machine only, which `one_replica` allows. Fails with
/// failed_precondition "topic_loses_records", naming topic, setting, value and remedy of each.
base::Status check_keeps_records(std::span<const TopicCheck> topics, bool one_replica);

}  // namespace rampart::streaming_kafka
