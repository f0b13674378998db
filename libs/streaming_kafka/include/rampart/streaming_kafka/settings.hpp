#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

namespace rampart::streaming_kafka {

enum class Security { kPlaintext, kTls, kSaslPlaintext, kSaslTls };
enum class SaslMechanism { kPlain, kScramSha256, kScramSha512 };

/// "plaintext", "tls", "sasl_plaintext", "sasl_tls"; "PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512".
std::string_view to_string(Security security);
std::string_view to_string(SaslMechanism mechanism);
base::Result<Security> parse_security(std::string_view text);
base::Result<SaslMechanism> parse_sasl_mechanism(std::string_view text);

/// Connection to a Kafka cluster and its resource limits. The same for readers,
/// writers and the admin.
struct KafkaSettings {
    std::string bootstrap_servers;  // host:port, separated by commas
    std::string client_id = "rampart";

    Security security = Security::kPlaintext;
    // TLS. Without a CA file the system's certificates are trusted. Certificate and key are for
    // brokers that require client certificates; both or neither.
    std::filesystem::path ca_file, certificate_file, key_file;
    // SASL. The password is the first line of a file that only its owner may read (mode 0600); it
    // is read when a client is opened and occurs in no log and no error.
    SaslMechanism sasl_mechanism = SaslMechanism::kScramSha512;
    std::string user;
    std::filesystem::path password_file;

    /// Timeout of a request to the cluster, 100 ms to 5 min.
    base::Duration request_timeout = base::Duration::seconds(5);
    /// Time for a record in flight after which append() gives up, 1 s to 10 min.
    base::Duration delivery_timeout = base::Duration::seconds(10);
    /// If a record has been in flight for this time, further appends are refused at once; 100 ms to
    /// the delivery timeout.
    base::Duration stall_limit = base::Duration::seconds(2);

    /// Prefetched bytes of a partition for each position, 64 KiB to 64 MiB. At most twice as much
    /// is buffered, or one batch of records if that is larger.
    size_t reader_bytes_per_partition = 1u << 20;
    /// Bytes in flight at any time, over all appends, 1 MiB to 1 GiB.
    size_t writer_bytes = 128u << 20;
    /// Largest record: key, value and headers, 1 KiB to 64 MiB. A topic's
    /// own limit may be lower.
    size_t max_record_bytes = 64u << 20;
};

/// Checks that every field is in its range and consistent with the others; does not read files.
/// Fails with invalid_argument "bad_kafka_settings", naming the field.
base::Status validate(const KafkaSettings& settings);

}  // namespace rampart::streaming_kafka
