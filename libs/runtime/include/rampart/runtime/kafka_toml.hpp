#pragma once

#include "rampart/config/secret_file.hpp"
#include "rampart/config/table.hpp"
#include "rampart/streaming_kafka/settings.hpp"

/// Connection to Kafka, as configured by an operator:
///
///     [kafka]
///     bootstrap_servers = "kafka-1:9092,kafka-2:9092"
///     client_id = "rampart"              # in the broker's logs
///     security = "sasl_tls"              # plaintext (default), tls, sasl_plaintext, sasl_tls
///     ca_file = "ca.pem"                 # tls; default: what the system trusts
///     certificate_file = "client.pem"    # tls, where the broker wants to know the client by one
///     key_file = "client.key"            # or "credential:NAME", as config::secret_file() says
///     sasl_mechanism = "SCRAM-SHA-512"   # default; SCRAM-SHA-256, PLAIN
///     user = "rampart"                   # sasl
///     password_file = "kafka.password"   # sasl; one line, mode 0600; or a credential
///     request_timeout_ms = 5000
///     delivery_timeout_ms = 10000
///     stall_limit_ms = 2000
///     reader_bytes_per_partition = 1048576
///     writer_bytes = 134217728
///     max_record_bytes = 67108864
///
/// All except the servers are optional. Relative paths are relative to the folder of `places`.
namespace rampart::runtime {

/// Reads the keys above from `table`; the caller calls finish() on its root and then
/// streaming_kafka::validate().
streaming_kafka::KafkaSettings read_kafka(config::Table table, const config::Places& places);

}  // namespace rampart::runtime
