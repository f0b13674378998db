#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming/topic_spec.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

inline constexpr int32_t kMaxPartitions = 1024;  // of one topic that is made here

/// Where a topic of the cluster is not what its specification says.
struct Difference {
    std::string property;       // "partitions", or Kafka's name: "retention.ms"
    std::string found, wanted;  // as Kafka writes them
    std::string remedy;         // what an operator does about it
    bool operator==(const Difference&) const = default;
};

struct TopicCheck {
    std::string name;
    bool exists = false;
    int32_t partitions = 0, replicas = 0;  // as found; replicas: of the partition that has fewest
    std::vector<Difference> differences;
    bool good() const { return exists && differences.empty(); }
};

/// Makes topics, and compares those that are there with what they have to be like: partitions,
/// cleanup.policy, retention.ms and retention.bytes (where records go by age, or never),
/// max.message.bytes, message.timestamp.type = CreateTime (the writer's
/// own clock, so that old events are not gone at once), and min.insync.replicas, which has to be
/// one less than the replicas (at least 1): with it, what was acknowledged survives the loss of a
/// broker. Thread safe.
class TopicAdmin {
  public:
    static base::Result<std::unique_ptr<TopicAdmin>> open(const KafkaSettings& settings);
    ~TopicAdmin();

    /// Makes the topics that are not there, and returns their names once they can be used. Those
    /// that are there stay as they are: check() tells what they are like. On an error some may have
    /// been made; calling again makes the others. invalid_argument "bad_topic",
    /// "refused_by_broker"; out_of_range "bad_partitions", "bad_replication"; not_authorized and
    /// unavailable as for readers.
    base::Result<std::vector<std::string>> create(std::span<const streaming::TopicSpec> specs,
                                                  int replication_factor);
    /// In the order of `specs`. A topic that is not there is no error.
    base::Result<std::vector<TopicCheck>> check(std::span<const streaming::TopicSpec> specs);

  private:
    struct Impl;
    explicit TopicAdmin(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::streaming_kafka
