#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/streaming/topic_spec.hpp"
#include "rampart/streaming_kafka/settings.hpp"

namespace CLI {
class App;
}

namespace rampart::cli {

/// The options of a command that talks to a Kafka cluster.
struct KafkaOptions {
    std::string bootstrap, security = "plaintext", mechanism = "SCRAM-SHA-512", user;
    std::filesystem::path ca, certificate, key, password_file;
    int timeout_seconds = 10;

    /// Adds --bootstrap, --security, --ca, --certificate, --key, --sasl-mechanism, --user,
    /// --password-file and --timeout.
    void add_to(CLI::App& command);
    base::Result<streaming_kafka::KafkaSettings> settings() const;
    /// Replaces the login of settings that a file has by the one that was given, if one was.
    base::Status log_in(streaming_kafka::KafkaSettings& settings) const;
};

/// Which cluster, and what it is to have.
struct WantedTopics {
    streaming_kafka::KafkaSettings kafka;
    std::string prefix;
    std::vector<streaming::TopicSpec> specs;
};

/// The options of a command about a deployment's topics.
struct TopicsOptions {
    std::filesystem::path config;  // says all that follows, but for the login
    KafkaOptions kafka;
    std::string prefix;
    int partitions = 4;
    int replication = 3;

    void add_to(CLI::App& command);
    base::Result<WantedTopics> wanted() const;
};

}  // namespace rampart::cli
