#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming_kafka/roles.hpp"

namespace rampart::streaming_kafka {

enum class AclPattern { kLiteral, kPrefixed };

/// An entry of the cluster's access control lists.
struct AclEntry {
    Resource resource = Resource::kTopic;
    AclPattern pattern = AclPattern::kLiteral;
    std::string name;                        // literal "*": every resource of this kind
    std::string principal;                   // "User:NAME"; "User:*": every user
    std::string host;                        // "*": every one
    Operation operation = Operation::kRead;  // kAll: every one
    bool allows = true;                      // false: denies, which counts before any that allows
    bool operator==(const AclEntry&) const = default;
};

/// "User:x may READ topics that begin with 'loans-', from 10.0.0.7".
std::string to_string(const AclEntry& entry);

/// Whose rights are looked at.
struct AclSubject {
    Role role = Role::kDeciding;
    std::string principal = {};  // "User:NAME"
    std::string prefix = {};     // begins the names of the deployment's topics
    std::string host = {};       // where it connects from; "": anywhere
    bool old_brokers = false;    // the brokers are older than 2.8
};

/// Fails with invalid_argument "bad_kafka_principal": not TYPE:NAME.
base::Status validate(const AclSubject& subject);

struct MissingRight {
    Resource resource = Resource::kTopic;
    std::string name;
    Operation operation = Operation::kRead;
    std::optional<AclEntry> denied_by;  // nullopt: no entry allows it
};

/// What one entry gives the principal on one of the deployment's resources and the role lacks.
struct ExtraRight {
    Resource resource = Resource::kTopic;
    std::string name;
    std::vector<Operation> operations;
    AclEntry entry;
};

struct AclComparison {
    std::vector<MissingRight> missing;
    std::vector<ExtraRight> extra;
    bool good() const { return missing.empty() && extra.empty(); }
};

/// Compares the entries with the role's grants, as Kafka's StandardAuthorizer judges: what denies
/// counts first, READ, WRITE, DELETE and ALTER bring DESCRIBE, ALTER_CONFIGS brings
/// DESCRIBE_CONFIGS, CREATE on the cluster is CREATE on every topic. Looks at the topics of the
/// deployment and at the cluster; entries about other resources do not count. Without a host an
/// entry allows only where it is for all hosts, denies if it is for any, and is too much if it is
/// for any. Super users of the brokers are in no list.
AclComparison compare_rights(const AclSubject& subject, std::span<const AclEntry> entries);

}  // namespace rampart::streaming_kafka
