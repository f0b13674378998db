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

/// How to reach a Kafka cluster, and how much it may cost. The same for readers, writers and the
/// admin.
struct KafkaSettings {
    std::string bootstrap_servers;  // host:port, separated by commas
    std::string client_id = "rampart";

    Security security = Security::kPlaintext;
    // TLS. Without a CA file the system's certificates are trusted. Certificate and key are for
    // brokers that want to know the client by one; both or neither.
    std::filesystem::path ca_file, certificate_file, key_file;
    // SASL. The password is the first line of a file that only its owner may read (mode 0600); it
    // is read when a client is opened and stands in no log and no error.
    SaslMechanism sasl_mechanism = SaslMechanism::kScramSha512;
    std::string user;
    std::filesystem::path password_file;

    /// How long a question to the cluster may take, 100 ms to 5 min.
    base::Duration request_timeout = base::Duration::seconds(5);
    /// How long a record may be on its way before append() gives up, 1 s to 10 min.
    base::Duration delivery_timeout = base::Duration::seconds(10);
    /// While a record has been on its way for as long, further appends are refused at once; 100 ms
    /// to the delivery timeout.
    base::Duration stall_limit = base::Duration::seconds(2);

    /// Read ahead, of each partition that is read, 64 KiB to 64 MiB. At most twice as much is held,
    /// or one batch of records if that is larger.
    size_t reader_bytes_per_partition = 1u << 20;
    /// On their way at any time, of all appends together, 1 MiB to 1 GiB.
    size_t writer_bytes = 128u << 20;
    /// The largest record: key, value and headers, 1 KiB to 64 MiB. A topic's own limit may be
    /// lower.
    size_t max_record_bytes = 64u << 20;
};

/// Whether every field is in its range and goes with the others; files are not looked at.
/// invalid_argument "bad_kafka_settings", naming the field.
base::Status validate(const KafkaSettings& settings);

}  // namespace rampart::streaming_kafka
