#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming/topic_spec.hpp"
#include "rampart/streaming_kafka/acl.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace rampart::streaming_kafka {

inline constexpr int32_t kMaxPartitions = 1024;  // per topic created here

/// A difference between a topic of the cluster and its specification.
struct Difference {
    std::string property;       // "partitions", or Kafka's name: "retention.ms"
    std::string found, wanted;  // in Kafka's notation
    std::string remedy;         // action for an operator
    bool operator==(const Difference&) const = default;
};

struct TopicCheck {
    std::string name;
    bool exists = false;
    int32_t partitions = 0, replicas = 0;  // as found; replicas: minimum over the partitions
    std::vector<Difference> differences;
    bool good() const { return exists && differences.empty(); }
};

/// Creates topics, and compares existing ones with their specification: partitions,
/// cleanup.policy, retention.ms and retention.bytes (for topics deleted by age, or never),
/// max.message.bytes, message.timestamp.type (CreateTime: the time of writing, by the writer's own
/// clock; LogAppendTime where TopicSpec::broker_time asks for it), and min.insync.replicas, which
/// must be one less than the replicas (at least 1): with it, acknowledged records survive the loss
/// of a broker. Reads the access control lists. Thread safe.
class TopicAdmin {
  public:
    static base::Result<std::unique_ptr<TopicAdmin>> open(const KafkaSettings& settings);
    ~TopicAdmin();

    /// Creates missing topics, and returns their names when they can be used. Existing topics
    /// are not changed: use check() to compare them. On an error some may have been created;
    /// calling again creates the others. Fails with invalid_argument "bad_topic",
    /// "refused_by_broker"; out_of_range "bad_partitions", "bad_replication"; not_authorized and
    /// unavailable as for readers.
    base::Result<std::vector<std::string>> create(std::span<const streaming::TopicSpec> specs,
                                                  int replication_factor);
    /// Compares, in the order of `specs`. A missing topic is not an error.
    base::Result<std::vector<TopicCheck>> check(std::span<const streaming::TopicSpec> specs);

    /// Returns the cluster's access control entries about topics and about the cluster itself, of
    /// all principals. Fails with failed_precondition "no_access_lists" where there are none: the
    /// brokers have no authorizer, or the user that asks lacks DESCRIBE on the cluster (librdkafka
    /// 2.0 says of neither that it is an error); permission_denied "not_authorized", unavailable as
    /// for readers.
    base::Result<std::vector<AclEntry>> acl_entries();

  private:
    struct Impl;
    explicit TopicAdmin(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::streaming_kafka
