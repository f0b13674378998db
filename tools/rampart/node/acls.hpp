#pragma once

#include <string>
#include <vector>

#include "frame/frame.hpp"
#include "node/topics_options.hpp"
#include "rampart/streaming_kafka/acl.hpp"

namespace CLI {
class Option;
}

namespace rampart::cli {

/// The options that name a client of the cluster.
struct SubjectOptions {
    std::string role, principal, host;
    bool old_brokers = false;

    /// Adds --role, --principal and --old-brokers.
    std::vector<CLI::Option*> add_to(CLI::App& command);
    /// Fails where --role or --principal is not given or makes no sense.
    base::Result<streaming_kafka::AclSubject> subject(const std::string& prefix) const;
};

/// Asks the brokers for their access control lists. Exit code 1: a right is missing or too many.
base::Result<Answer> check_acls(const TopicsOptions& topics, const SubjectOptions& options);

}  // namespace rampart::cli
