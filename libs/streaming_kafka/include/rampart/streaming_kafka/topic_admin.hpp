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
#include "rampart/streaming_kafka/topic_rules.hpp"

namespace rampart::streaming_kafka {

inline constexpr int32_t kMaxPartitions = 1024;  // per topic created here

/// What a cluster shows of topics.
struct TopicsFound {
    std::vector<TopicCheck> topics;  // without settings, only partitions are compared
    /// ok: all settings are compared. Else why the brokers show none of a topic: "not_authorized",
    /// "broker_too_old".
    base::Status settings;
};

/// Creates topics, and compares existing ones with their specification: partitions, and settings
/// as topic_rules.hpp says. Reads the access control lists. Thread safe.
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
    /// As check(), but brokers that refuse to show settings, or cannot, are no error.
    base::Result<TopicsFound> look(std::span<const streaming::TopicSpec> specs);

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
