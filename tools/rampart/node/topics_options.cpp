#include "node/topics_options.hpp"

#include <CLI/CLI.hpp>

#include "frame/named_secret.hpp"
#include "frame/reasons.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "rampart/wire/topics.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {

using base::Result;
using base::Status;

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
    RAMPART_TRY(settings.key_file, named_secret(key));
    RAMPART_TRY(settings.sasl_mechanism, streaming_kafka::parse_sasl_mechanism(mechanism));
    settings.user = user;
    RAMPART_TRY(settings.password_file, named_secret(password_file));
    settings.request_timeout = base::Duration::seconds(timeout_seconds);
    RAMPART_RETURN_IF_ERROR(streaming_kafka::validate(settings));
    return settings;
}

Status KafkaOptions::log_in(streaming_kafka::KafkaSettings& settings) const {
    if (!user.empty()) settings.user = user;
    if (!password_file.empty()) {
        RAMPART_TRY(settings.password_file, named_secret(password_file));
    }
    if (!certificate.empty()) settings.certificate_file = certificate;
    if (!key.empty()) {
        RAMPART_TRY(settings.key_file, named_secret(key));
    }
    return streaming_kafka::validate(settings);
}

void TopicsOptions::add_to(CLI::App& command) {
    command.add_option("--config", config,
                       "rampartd.toml of a node on Kafka: cluster, prefix and partitions; or give "
                       "these by the options below. --user, --password-file, --certificate and "
                       "--key replace its login");
    kafka.add_to(command);
    command.add_option("--prefix", prefix, "prefix of every topic's name");
    command
        .add_option("--partitions", partitions,
                    "partitions of applications, decisions and outcomes; fixed once created")
        ->check(CLI::Range(1, streaming_kafka::kMaxPartitions))
        ->capture_default_str();
}

Result<WantedTopics> TopicsOptions::wanted() const {
    if (config.empty()) {
        RAMPART_TRY(auto settings, kafka.settings());
        return WantedTopics{std::move(settings), prefix,
                            wire::Topics::with_prefix(prefix).specs(partitions)};
    }
    RAMPART_TRY(auto settings, rampartd::load_settings(config));
    auto& log = settings.log;
    if (log.broker == rampartd::LogSettings::Broker::kLocal) {
        return base::make_error(Reason::kEmbeddedLog,
                                "{} says log.broker = \"local\": the embedded log makes its "
                                "topics itself",
                                config.string());
    }
    RAMPART_RETURN_IF_ERROR(kafka.log_in(log.kafka));
    auto specs = wire::Topics::with_prefix(log.topic_prefix).specs(log.partitions, log.kept());
    return WantedTopics{std::move(log.kafka), log.topic_prefix, std::move(specs)};
}

}  // namespace rampart::cli
