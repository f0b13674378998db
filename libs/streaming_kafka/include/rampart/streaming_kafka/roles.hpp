#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::streaming_kafka {

/// What a client of the cluster is there for. Each role has a Kafka principal of its own.
enum class Role {
    kDeciding,            // a node that decides group-blind, and does not train
    kDecidingGroupAware,  // a node that decides by group, and does not train
    kTraining,            // the node that trains; it decides, too
    kProducingApplications,
    kProducingOutcomes,
    kProducingAttributes,
    kAuditing,  // reads, compares topics and rights, and writes nothing
    kAdmin      // makes the topics
};
inline constexpr std::array kRoles{Role::kDeciding,          Role::kDecidingGroupAware,
                                   Role::kTraining,          Role::kProducingApplications,
                                   Role::kProducingOutcomes, Role::kProducingAttributes,
                                   Role::kAuditing,          Role::kAdmin};

/// Kafka's operations on topics and the cluster; kUnknown: another one.
enum class Operation {
    kAll,
    kRead,
    kWrite,
    kCreate,
    kDelete,
    kAlter,
    kDescribe,
    kClusterAction,
    kDescribeConfigs,
    kAlterConfigs,
    kIdempotentWrite,
    kUnknown
};

enum class Resource { kTopic, kCluster };
inline constexpr std::string_view kClusterName = "kafka-cluster";  // Kafka's own for its only one

/// What a role may do with one resource. A client that reads or writes a topic also needs DESCRIBE
/// on it, which Kafka gives it with READ and WRITE.
struct Grant {
    Resource resource = Resource::kTopic;
    std::string_view name;  // a topic has it without the prefix of the deployment
    std::vector<Operation> operations;
    std::string_view purpose;  // what the client does with it
    bool old_brokers = false;  // only brokers before 2.8 ask for it
};

/// "deciding", "deciding-group-aware", "training", "producing-applications", "producing-outcomes",
/// "producing-attributes", "auditing", "admin".
std::string_view to_string(Role role);
/// In Kafka's notation: "READ", "DESCRIBE_CONFIGS".
std::string_view to_string(Operation operation);
/// Fails with invalid_argument "unknown_role", naming all.
base::Result<Role> parse_role(std::string_view text);

/// One sentence about the clients of this role.
std::string_view purpose_of(Role role);
/// The names of a deployment's topics without its prefix, in the order of the table.
std::span<const std::string_view> topic_names();
/// Returns all that the role needs and may do, in the order of topic_names(), the cluster last.
/// The only table of rights: ops/runbooks/kafka.md shows it, compare_rights() judges by it.
std::vector<Grant> grants_of(Role role);

}  // namespace rampart::streaming_kafka
