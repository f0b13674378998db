#pragma once

#include <filesystem>
#include <string>

#include "rampart/base/result.hpp"
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

    /// --bootstrap, --security, --ca, --certificate, --key, --sasl-mechanism, --user,
    /// --password-file, --timeout
    void add_to(CLI::App& command);
    base::Result<streaming_kafka::KafkaSettings> settings() const;
};

}  // namespace rampart::cli
