#include "services/rampartd/log_settings.hpp"

#include <algorithm>
#include <set>

namespace rampart::rampartd {
namespace {

using streaming::PartitionId;

std::vector<PartitionId> read_partitions(config::Table& log, std::string_view key, int32_t count) {
    std::vector<PartitionId> found;
    for (const int64_t p : log.integers(key, 0, count - 1)) {
        found.emplace_back(static_cast<int32_t>(p));
    }
    std::sort(found.begin(), found.end());
    if (std::adjacent_find(found.begin(), found.end()) != found.end()) {
        log.fail(key, "names a partition twice");
    }
    return found;
}

base::Duration milliseconds(double seconds) {
    return base::Duration::micros(static_cast<int64_t>(seconds * 1e6));
}

streaming_kafka::KafkaSettings read_kafka(config::Table& table,
                                          const std::filesystem::path& folder) {
    streaming_kafka::KafkaSettings kafka;
    const auto path = [&](std::string_view key) {
        const auto text = table.string(key, "");
        return text.empty() ? std::filesystem::path() : folder / text;
    };
    kafka.bootstrap_servers = table.string("bootstrap_servers", "");
    kafka.client_id = table.string("client_id", kafka.client_id);
    kafka.security = *streaming_kafka::parse_security(table.choice(
        "security", {"plaintext", "tls", "sasl_plaintext", "sasl_tls"}, "plaintext"));
    kafka.ca_file = path("ca_file");
    kafka.certificate_file = path("certificate_file");
    kafka.key_file = path("key_file");
    kafka.sasl_mechanism = *streaming_kafka::parse_sasl_mechanism(
        table.choice("sasl_mechanism", {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}, "SCRAM-SHA-512"));
    kafka.user = table.string("user", "");
    kafka.password_file = path("password_file");
    kafka.request_timeout = milliseconds(table.number("request_seconds", 0.1, 300, 5));
    kafka.delivery_timeout = milliseconds(table.number("delivery_seconds", 1, 600, 10));
    kafka.stall_limit = milliseconds(table.number("stall_seconds", 0.1, 600, 2));
    kafka.reader_bytes_per_partition =
        static_cast<size_t>(table.integer("reader_kib_per_partition", 64, 64 << 10, 1024)) << 10;
    kafka.writer_bytes = static_cast<size_t>(table.integer("writer_mib", 1, 1024, 128)) << 20;
    return kafka;
}

}  // namespace

std::vector<PartitionId> LogSettings::held() const {
    std::set<PartitionId> all(own.begin(), own.end());
    all.insert(follow.begin(), follow.end());
    return {all.begin(), all.end()};
}

LogSettings read_log_settings(config::Table& root, const std::filesystem::path& folder) {
    LogSettings settings;
    auto log = root.table("log");
    auto kafka = root.table("kafka");
    using enum LogSettings::Broker;
    settings.broker = log.choice("broker", {"local", "kafka"}, "local") == "kafka" ? kKafka : kLocal;
    settings.partitions = static_cast<int32_t>(log.integer("partitions", 1, 256, 4));
    settings.topic_prefix = log.string("topic_prefix", "");
    settings.own = read_partitions(log, "own", settings.partitions);
    settings.follow = read_partitions(log, "follow", settings.partitions);
    if (settings.own.empty() && settings.follow.empty()) {
        for (int32_t p = 0; p < settings.partitions; ++p) settings.own.emplace_back(p);
    }
    for (const PartitionId p : settings.follow) {
        if (std::binary_search(settings.own.begin(), settings.own.end(), p)) {
            log.fail("follow", fmt::format("partition {} is owned already", p));
        }
    }
    settings.kafka = read_kafka(kafka, folder);
    settings.group = kafka.string("group", settings.group);
    settings.node = kafka.string("node", "");
    settings.lease_ttl = milliseconds(kafka.number("lease_seconds", 0.1, 3600, 10));
    if (settings.broker == kLocal) {
        if (!settings.holds_all() || !settings.follow.empty()) {
            log.fail("own", "one process has the embedded log, so it owns all partitions");
        }
        return settings;
    }
    if (settings.own.empty()) {
        log.fail("own", "names no partition: a node that only follows decides nothing; give it one at least");
    }
    if (settings.node.empty()) {
        kafka.fail("node", "is required with log.broker = \"kafka\": a name of this node, its own in "
                           "the group and the same after every restart");
    }
    if (const auto valid = streaming_kafka::validate(settings.kafka); !valid) {
        kafka.fail("bootstrap_servers", valid.error().message);
    }
    return settings;
}

}  // namespace rampart::rampartd
