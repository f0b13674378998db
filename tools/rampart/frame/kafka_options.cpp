#include "frame/kafka_options.hpp"

#include <CLI/CLI.hpp>

namespace rampart::cli {

void KafkaOptions::add_to(CLI::App& command) {
    command.add_option("--bootstrap", bootstrap, "host:port of the brokers, separated by commas");
    command
        .add_option("--security", security,
                    "protection: plaintext, tls, sasl_plaintext or sasl_tls")
        ->capture_default_str();
    command.add_option("--ca", ca,
                       "PEM file of the authority that signs the brokers' certificates");
    command.add_option("--certificate", certificate,
                       "PEM file of the client's certificate, if the brokers require one");
    command.add_option("--key", key, "PEM file of the client's private key");
    command
        .add_option("--sasl-mechanism", mechanism,
                    "login mechanism: PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
        ->capture_default_str();
    command.add_option("--user", user, "user that logs in");
    command.add_option("--password-file", password_file, "file with the password; mode 0600");
    command.add_option("--timeout", timeout_seconds, "seconds to wait for the cluster")
        ->check(CLI::Range(1, 300))
        ->capture_default_str();
}

base::Result<streaming_kafka::KafkaSettings> KafkaOptions::settings() const {
    streaming_kafka::KafkaSettings settings;
    settings.bootstrap_servers = bootstrap;
    settings.client_id = "rampart-cli";
    RAMPART_TRY(settings.security, streaming_kafka::parse_security(security));
    settings.ca_file = ca;
    settings.certificate_file = certificate;
    settings.key_file = key;
    RAMPART_TRY(settings.sasl_mechanism, streaming_kafka::parse_sasl_mechanism(mechanism));
    settings.user = user;
    settings.password_file = password_file;
    settings.request_timeout = base::Duration::seconds(timeout_seconds);
    RAMPART_RETURN_IF_ERROR(streaming_kafka::validate(settings));
    return settings;
}

}  // namespace rampart::cli
