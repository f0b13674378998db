#include "rampart/streaming_kafka/roles.hpp"

#include <fmt/format.h>

#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {
namespace {

using enum Operation;

constexpr std::array<std::string_view, 8> kTopicNames{
    "applications", "decisions",  "outcomes", "protected-attributes",
    "policies",     "quarantine", "leases",   "person-keys"};

constexpr std::array<std::string_view, 12> kOperationNames{"ALL",
                                                           "READ",
                                                           "WRITE",
                                                           "CREATE",
                                                           "DELETE",
                                                           "ALTER",
                                                           "DESCRIBE",
                                                           "CLUSTER_ACTION",
                                                           "DESCRIBE_CONFIGS",
                                                           "ALTER_CONFIGS",
                                                           "IDEMPOTENT_WRITE",
                                                           "UNKNOWN"};

Grant topic(std::string_view name, std::vector<Operation> operations, std::string_view purpose) {
    return {Resource::kTopic, name, std::move(operations), purpose, false};
}

/// Returns what a producer needs beside WRITE on a topic: ours are idempotent, others may be.
Grant idempotent_write() {
    return {Resource::kCluster, kClusterName, {kIdempotentWrite}, "idempotent writing", true};
}

Grant ask_for_rights() {
    return {Resource::kCluster, kClusterName, {kDescribe}, "rampart topics check --acls", false};
}

/// Returns the rights of a process of `rampart serve`. Every one decides at least one partition,
/// and looks at the settings of its topics when it starts.
std::vector<Grant> grants_of_node(bool trains, bool attributes) {
    std::vector<Grant> grants{
        topic("applications", {kRead, kDescribeConfigs}, "applications to decide"),
        topic("decisions", {kRead, kWrite, kDescribeConfigs},
              "decisions, fences and erasures, and their indices"),
        topic("outcomes", {kRead, kWrite, kDescribeConfigs},
              "reports that came over HTTP; all are joined")};
    if (attributes) {
        grants.push_back(topic("protected-attributes", {kRead, kWrite, kDescribeConfigs},
                               "groups of persons; statements over HTTP, and erasures"));
    }
    // a node that lost the trainer's lease follows the one that has it
    grants.push_back(trains ? topic("policies", {kRead, kWrite, kDescribeConfigs},
                                    "the champion, for the other nodes or, once another trains, "
                                    "of that one")
                            : topic("policies", {kRead, kDescribeConfigs},
                                    "the champion of the node that trains"));
    grants.push_back(topic("quarantine", {kRead, kWrite, kDescribeConfigs},
                           "applications that cannot be decided; rampart store check reads them"));
    grants.push_back(
        topic("leases", {kRead, kWrite, kDescribeConfigs}, "which node owns which partition"));
    grants.push_back(
        topic("person-keys", {kRead, kWrite, kDescribeConfigs}, "keys of persons, and their ends"));
    grants.push_back(idempotent_write());
    return grants;
}

std::vector<Grant> grants_of_producer(std::string_view name) {
    return {topic(name, {kWrite}, "what this client sends"), idempotent_write()};
}

std::vector<Grant> grants_of_auditor() {
    std::vector<Grant> grants;
    for (const auto name : kTopicNames) {
        if (name == "protected-attributes") {
            grants.push_back(topic(name, {kDescribe, kDescribeConfigs}, "rampart topics check"));
        } else {
            grants.push_back(topic(name, {kRead, kDescribeConfigs},
                                   "rampart ledger check, store check and topics check; a look at "
                                   "records that no node wrote"));
        }
    }
    grants.push_back(ask_for_rights());
    return grants;
}

std::vector<Grant> grants_of_admin() {
    std::vector<Grant> grants;
    for (const auto name : kTopicNames) {
        grants.push_back(topic(name, {kCreate, kDescribe, kDescribeConfigs},
                               "rampart topics create and topics check"));
    }
    grants.push_back(ask_for_rights());
    return grants;
}

}  // namespace

std::string_view to_string(Role role) {
    switch (role) {
        case Role::kDeciding:
            return "deciding";
        case Role::kDecidingGroupAware:
            return "deciding-group-aware";
        case Role::kTraining:
            return "training";
        case Role::kProducingApplications:
            return "producing-applications";
        case Role::kProducingOutcomes:
            return "producing-outcomes";
        case Role::kProducingAttributes:
            return "producing-attributes";
        case Role::kAuditing:
            return "auditing";
        case Role::kAdmin:
            return "admin";
    }
    return "?";
}

std::string_view to_string(Operation operation) {
    return kOperationNames[static_cast<size_t>(operation)];
}

base::Result<Role> parse_role(std::string_view text) {
    std::string allowed;
    for (const Role role : kRoles) {
        if (to_string(role) == text) return role;
        allowed += (allowed.empty() ? "" : ", ") + std::string(to_string(role));
    }
    return base::make_error(Reason::kUnknownRole, "'{}' is none of {}", text, allowed);
}

std::string_view purpose_of(Role role) {
    switch (role) {
        case Role::kDeciding:
            return "rampart serve: decides group-blind, another node trains";
        case Role::kDecidingGroupAware:
            return "rampart serve: decides by group, another node trains";
        case Role::kTraining:
            return "rampart serve: trains, and decides";
        case Role::kProducingApplications:
            return "a system of the lender that sends applications";
        case Role::kProducingOutcomes:
            return "a system of the lender that sends outcomes";
        case Role::kProducingAttributes:
            return "a system of the lender that sends protected attributes";
        case Role::kAuditing:
            return "who audits or watches: reads, and writes nothing";
        case Role::kAdmin:
            return "who makes and compares the topics";
    }
    return "";
}

std::span<const std::string_view> topic_names() { return kTopicNames; }

std::vector<Grant> grants_of(Role role) {
    switch (role) {
        case Role::kDeciding:
            return grants_of_node(false, false);
        case Role::kDecidingGroupAware:
            return grants_of_node(false, true);
        case Role::kTraining:
            return grants_of_node(true, true);
        case Role::kProducingApplications:
            return grants_of_producer("applications");
        case Role::kProducingOutcomes:
            return grants_of_producer("outcomes");
        case Role::kProducingAttributes:
            return grants_of_producer("protected-attributes");
        case Role::kAuditing:
            return grants_of_auditor();
        case Role::kAdmin:
            return grants_of_admin();
    }
    return {};
}

}  // namespace rampart::streaming_kafka
