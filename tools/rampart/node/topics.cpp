// topics create|check: the topics of a deployment on a Kafka cluster.
#include "rampart/wire/topics.hpp"

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "frame/commands.hpp"
#include "frame/reasons.hpp"
#include "rampart/base/result.hpp"
#include "rampart/streaming_kafka/settings.hpp"
#include "rampart/streaming_kafka/topic_admin.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {
namespace {

namespace json = boost::json;
using base::Result;
using streaming::TopicSpec;
using streaming_kafka::TopicCheck;

/// The options of a command that talks to a Kafka cluster.
struct KafkaOptions {
    std::string bootstrap, security = "plaintext", mechanism = "SCRAM-SHA-512", user;
    std::filesystem::path ca, certificate, key, password_file;
    int timeout_seconds = 10;

    /// Adds --bootstrap, --security, --ca, --certificate, --key, --sasl-mechanism, --user,
    /// --password-file and --timeout.
    void add_to(CLI::App& command);
    base::Result<streaming_kafka::KafkaSettings> settings() const;
};

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

/// Which cluster, and what it is to have.
struct Wanted {
    streaming_kafka::KafkaSettings kafka;
    std::vector<TopicSpec> specs;
};

struct TopicsOptions {
    std::filesystem::path config;  // says all that follows
    KafkaOptions kafka;
    std::string prefix;
    int partitions = 4;
    int replication = 3;

    void add_to(CLI::App& command) {
        command.add_option("--config", config,
                           "rampartd.toml of a node on Kafka: cluster, prefix and partitions; or "
                           "give these by the "
                           "options below");
        kafka.add_to(command);
        command.add_option("--prefix", prefix, "prefix of every topic's name");
        command
            .add_option("--partitions", partitions,
                        "partitions of applications, decisions and outcomes; fixed once created")
            ->check(CLI::Range(1, streaming_kafka::kMaxPartitions))
            ->capture_default_str();
    }
    Result<Wanted> wanted() const {
        if (config.empty()) {
            RAMPART_TRY(auto settings, kafka.settings());
            return Wanted{std::move(settings), wire::Topics::with_prefix(prefix).specs(partitions)};
        }
        RAMPART_TRY(auto settings, rampartd::load_settings(config));
        if (settings.log.broker == rampartd::LogSettings::Broker::kLocal) {
            return base::make_error(Reason::kEmbeddedLog,
                                    "{} says log.broker = \"local\": the embedded log makes its "
                                    "topics itself",
                                    config.string());
        }
        auto specs =
            wire::Topics::with_prefix(settings.log.topic_prefix).specs(settings.log.partitions);
        return Wanted{std::move(settings.log.kafka), std::move(specs)};
    }
};

std::string kept(const TopicSpec& spec) {
    if (spec.cleanup == TopicSpec::Cleanup::kCompact) return "latest per key";
    if (!spec.max_age) return "for ever";
    return fmt::format("{} days", spec.max_age->micros() / base::Duration::days(1).micros());
}

std::string state_of(const TopicCheck& topic, bool made) {
    if (!topic.exists) return "missing";
    if (!topic.differences.empty()) return "differs";
    return made ? "made" : "good";
}

/// Exit code 1 where a topic is not what it has to be.
Answer report(std::span<const TopicSpec> specs, std::span<const TopicCheck> topics,
              const std::set<std::string>& made) {
    size_t width = 5;
    for (const auto& topic : topics) width = std::max(width, topic.name.size());
    Answer answer;
    answer.text = fmt::format("{:<{}}  {:>10}  {:>8}  {:<14}  {}\n", "topic", width, "partitions",
                              "replicas", "kept", "state");
    json::array list;
    std::string remedies;
    for (size_t i = 0; i < topics.size(); ++i) {
        const auto& topic = topics[i];
        const auto state = state_of(topic, made.contains(topic.name));
        if (!topic.good()) answer.exit_code = ExitCode::kNo;
        answer.text +=
            fmt::format("{:<{}}  {:>10}  {:>8}  {:<14}  {}\n", topic.name, width,
                        topic.exists ? topic.partitions : specs[i].partitions,
                        topic.exists ? std::to_string(topic.replicas) : "-", kept(specs[i]), state);
        if (!topic.exists) remedies += fmt::format("{}: rampart topics create\n", topic.name);
        json::array differences;
        for (const auto& d : topic.differences) {
            remedies += fmt::format("{}: {} is {}, has to be {}: {}\n", topic.name, d.property,
                                    d.found, d.wanted, d.remedy);
            differences.push_back({{"property", d.property},
                                   {"found", d.found},
                                   {"wanted", d.wanted},
                                   {"remedy", d.remedy}});
        }
        list.push_back({{"name", topic.name},
                        {"state", state},
                        {"partitions", topic.partitions},
                        {"replicas", topic.replicas},
                        {"differences", differences}});
    }
    if (!remedies.empty()) answer.text += "\n" + remedies;
    answer.json = json::serialize(
        json::object{{"good", answer.exit_code == ExitCode::kDone}, {"topics", list}});
    return answer;
}

Result<Answer> check(const TopicsOptions& options) {
    RAMPART_TRY(const auto wanted, options.wanted());
    RAMPART_TRY(const auto admin, streaming_kafka::TopicAdmin::open(wanted.kafka));
    const auto& specs = wanted.specs;
    RAMPART_TRY(const auto topics, admin->check(specs));
    return report(specs, topics, {});
}

Result<Answer> create(const TopicsOptions& options) {
    RAMPART_TRY(const auto wanted, options.wanted());
    RAMPART_TRY(const auto admin, streaming_kafka::TopicAdmin::open(wanted.kafka));
    const auto& specs = wanted.specs;
    RAMPART_TRY(const auto made, admin->create(specs, options.replication));
    RAMPART_TRY(const auto topics, admin->check(specs));
    auto answer = report(specs, topics, {made.begin(), made.end()});
    if (options.replication == 1 && !made.empty()) {
        answer.notes.push_back("one replica: if the broker's disk is lost, the log is lost");
    }
    return answer;
}

}  // namespace

void add_topics_create(Frame& frame) {
    auto options = std::make_shared<TopicsOptions>();
    auto& command = frame.add(
        {.name = "topics create",
         .summary = "Create the topics that do not exist",
         .example = "rampart topics create --config rampartd.toml",
         .detail =
             "Topics that exist are not changed. Exit code 1: one of them differs from what is "
             "required."},
        [options](const Context&) { return create(*options); });
    options->add_to(command);
    command.add_option("--replication", options->replication, "replicas of each partition")
        ->check(CLI::Range(1, 16))
        ->capture_default_str();
}

void add_topics_check(Frame& frame) {
    auto options = std::make_shared<TopicsOptions>();
    auto& command =
        frame.add({.name = "topics check",
                   .summary = "Compare the topics with what is required",
                   .example = "rampart topics check --config rampartd.toml",
                   .detail = "Exit code 1: a topic is missing or differs; the remedy is shown."},
                  [options](const Context&) { return check(*options); });
    options->add_to(command);
}

}  // namespace rampart::cli
