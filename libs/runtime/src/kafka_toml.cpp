#include "rampart/runtime/kafka_toml.hpp"

namespace rampart::runtime {
namespace {

using streaming_kafka::KafkaSettings;

constexpr int64_t kMaxMillis = 600'000;
constexpr int64_t kMaxBytes = int64_t{1} << 30;

base::Duration read_millis(config::Table& table, std::string_view key, base::Duration fallback) {
    return base::Duration::micros(1000 *
                                  table.integer(key, 1, kMaxMillis, fallback.micros() / 1000));
}

size_t read_bytes(config::Table& table, std::string_view key, size_t fallback) {
    return static_cast<size_t>(table.integer(key, 1, kMaxBytes, static_cast<int64_t>(fallback)));
}

}  // namespace

KafkaSettings read_kafka(config::Table table, const config::Places& places) {
    KafkaSettings settings;
    const auto path = [&](std::string_view key) {
        const std::filesystem::path given = table.string(key, "");
        return given.empty() || given.is_absolute() ? given : places.folder / given;
    };
    settings.bootstrap_servers = table.string("bootstrap_servers");
    settings.client_id = table.string("client_id", settings.client_id);
    const auto security =
        table.choice("security", {"plaintext", "tls", "sasl_plaintext", "sasl_tls"}, "plaintext");
    settings.security =
        streaming_kafka::parse_security(security).value_or(streaming_kafka::Security::kPlaintext);
    settings.ca_file = path("ca_file");
    settings.certificate_file = path("certificate_file");
    settings.key_file = config::secret_file(table, "key_file", places);
    const auto mechanism = table.choice(
        "sasl_mechanism", {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"}, "SCRAM-SHA-512");
    settings.sasl_mechanism = streaming_kafka::parse_sasl_mechanism(mechanism).value_or(
        streaming_kafka::SaslMechanism::kScramSha512);
    settings.user = table.string("user", "");
    settings.password_file = config::secret_file(table, "password_file", places);
    settings.request_timeout = read_millis(table, "request_timeout_ms", settings.request_timeout);
    settings.delivery_timeout =
        read_millis(table, "delivery_timeout_ms", settings.delivery_timeout);
    settings.stall_limit = read_millis(table, "stall_limit_ms", settings.stall_limit);
    settings.reader_bytes_per_partition =
        read_bytes(table, "reader_bytes_per_partition", settings.reader_bytes_per_partition);
    settings.writer_bytes = read_bytes(table, "writer_bytes", settings.writer_bytes);
    settings.max_record_bytes = read_bytes(table, "max_record_bytes", settings.max_record_bytes);
    return settings;
}

}  // namespace rampart::runtime
