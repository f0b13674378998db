#include "conf.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "rampart/base/file.hpp"
#include "rampart/base/file_access.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Result;
using base::Status;

constexpr size_t kMaxPasswordBytes = 1024;
constexpr size_t kOverheadBytes = 64u << 10;  // protocol overhead of a record, with a margin
/// An idle fetch delays the next one to the same broker by this time, and with it partitions
/// that have more records.
constexpr int kFetchWaitMs = 20;
constexpr size_t kMaxResponseBytes = 16u << 20;  // per fetch, over all partitions
constexpr size_t kMaxBatchBytes = 1'000'000;     // per batch of records

struct Property {
    const char* name;
    std::string value;
};

std::string millis(base::Duration duration) { return std::to_string(duration.micros() / 1000); }

Status set(rd_kafka_conf_t* conf, const Property& property) {
    std::array<char, 512> why{};
    if (rd_kafka_conf_set(conf, property.name, property.value.c_str(), why.data(), why.size()) ==
        RD_KAFKA_CONF_OK) {
        return base::ok();
    }
    // the library's message may contain the value, which may be a secret
    return base::make_error(Reason::kBadKafkaProperty, "librdkafka rejects property '{}'",
                            property.name);
}

Status set_all(rd_kafka_conf_t* conf, const std::vector<Property>& properties) {
    for (const auto& property : properties) RAMPART_RETURN_IF_ERROR(set(conf, property));
    return base::ok();
}

Status check_mode(std::string_view field, const std::filesystem::path& path, unsigned mode) {
    if (!base::others_have_access(path, mode)) return base::ok();
    return base::make_error(base::Reason::kSecretExposed,
                            "{}: {}: others than its owner have access (mode {:04o}); make a new "
                            "one if they may have read it, then chmod 600",
                            field, path.string(), mode & 07777);
}

Result<std::string> read_password(const std::filesystem::path& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return base::make_error(Reason::kBadKafkaSettings, "password_file: {}: {}", path.string(),
                                std::strerror(errno));
    }
    RAMPART_RETURN_IF_ERROR(check_mode("password_file", path, status.st_mode));
    RAMPART_TRY(std::string text, base::read_file(path, kMaxPasswordBytes));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    if (text.empty() || text.find_first_of(std::string_view("\n\0", 2)) != std::string::npos) {
        return base::make_error(Reason::kBadKafkaSettings,
                                "password_file: {}: does not contain exactly one line",
                                path.string());
    }
    return text;
}

Status check_readable(std::string_view field, const std::filesystem::path& path) {
    if (path.empty() || ::access(path.c_str(), R_OK) == 0) return base::ok();
    return base::make_error(Reason::kBadTls, "{}: {}: {}", field, path.string(),
                            std::strerror(errno));
}

std::string protocol_of(Security security) {
    switch (security) {
        case Security::kPlaintext:
            return "plaintext";
        case Security::kTls:
            return "ssl";
        case Security::kSaslPlaintext:
            return "sasl_plaintext";
        case Security::kSaslTls:
            return "sasl_ssl";
    }
    return "";
}

Status set_security(rd_kafka_conf_t* conf, const KafkaSettings& settings) {
    RAMPART_RETURN_IF_ERROR(set(conf, {"security.protocol", protocol_of(settings.security)}));
    const std::array<std::tuple<std::string_view, const char*, std::filesystem::path>, 3> files{
        {{"ca_file", "ssl.ca.location", settings.ca_file},
         {"certificate_file", "ssl.certificate.location", settings.certificate_file},
         {"key_file", "ssl.key.location", settings.key_file}}};
    for (const auto& [field, property, path] : files) {
        RAMPART_RETURN_IF_ERROR(check_readable(field, path));
        struct stat status {};
        if (field == "key_file" && ::stat(path.c_str(), &status) == 0)
            RAMPART_RETURN_IF_ERROR(check_mode(field, path, status.st_mode));
        if (!path.empty()) RAMPART_RETURN_IF_ERROR(set(conf, {property, path.string()}));
    }
    if (settings.password_file.empty()) return base::ok();
    RAMPART_TRY(const auto password, read_password(settings.password_file));
    return set_all(conf, {{"sasl.mechanism", std::string(to_string(settings.sasl_mechanism))},
                          {"sasl.username", settings.user},
                          {"sasl.password", password}});
}

Result<Conf> common_conf(const KafkaSettings& settings) {
    RAMPART_RETURN_IF_ERROR(validate(settings));
    Conf conf(rd_kafka_conf_new());
    // a request that hangs closes its connection, so the timeout must be longer than an idle fetch
    const auto socket_timeout = std::max(settings.request_timeout, base::Duration::seconds(2));
    RAMPART_RETURN_IF_ERROR(set_all(
        conf.get(), {{"bootstrap.servers", settings.bootstrap_servers},
                     {"client.id", settings.client_id},
                     {"socket.timeout.ms", millis(socket_timeout)},
                     {"socket.nagle.disable", "true"},
                     {"socket.keepalive.enable", "true"},
                     {"reconnect.backoff.ms", "50"},
                     {"reconnect.backoff.max.ms", "1000"},
                     // a leader that moved while its broker was down is found by querying again
                     {"topic.metadata.refresh.interval.ms", "3000"},
                     {"log.connection.close", "false"},
                     {"allow.auto.create.topics", "false"}}));
    RAMPART_RETURN_IF_ERROR(set_security(conf.get(), settings));
    return conf;
}

}  // namespace

Result<Conf> consumer_conf(const KafkaSettings& settings) {
    RAMPART_TRY(Conf conf, common_conf(settings));
    const size_t ahead = settings.reader_bytes_per_partition;
    const size_t response = std::max(kMaxResponseBytes, ahead);
    RAMPART_RETURN_IF_ERROR(
        set_all(conf.get(),
                {// the caller stores offsets: nothing is stored, committed or defaulted
                 {"enable.auto.commit", "false"},
                 {"enable.auto.offset.store", "false"},
                 {"auto.offset.reset", "error"},
                 {"enable.partition.eof", "true"},
                 {"isolation.level", "read_committed"},
                 {"check.crcs", "true"},
                 {"fetch.wait.max.ms", std::to_string(kFetchWaitMs)},
                 {"fetch.error.backoff.ms", "50"},
                 {"queued.max.messages.kbytes", std::to_string(ahead >> 10)},
                 {"fetch.message.max.bytes", std::to_string(ahead)},
                 {"fetch.max.bytes", std::to_string(response)},
                 // a batch larger than the limits is delivered nevertheless, alone
                 {"receive.message.max.bytes",
                  std::to_string(response + settings.max_record_bytes + kMaxBatchBytes)}}));
    return conf;
}

Result<Conf> producer_conf(const KafkaSettings& settings) {
    RAMPART_TRY(Conf conf, common_conf(settings));
    const auto request = std::min(settings.request_timeout, settings.delivery_timeout);
    RAMPART_RETURN_IF_ERROR(set_all(
        conf.get(),
        {{"enable.idempotence", "true"},
         // One request in flight per broker. A broker that has no state of a producer yet accepts
         // its second batch although it refused the first; librdkafka then reports the first as
         // written, without an offset, and it is lost.
         {"max.in.flight.requests.per.connection", "1"},
         {"acks", "all"},
         {"compression.type", "lz4"},
         {"linger.ms", "0"},
         {"message.timeout.ms", millis(settings.delivery_timeout)},
         {"request.timeout.ms", millis(request)},
         {"retry.backoff.ms", "50"},
         {"message.max.bytes", std::to_string(settings.max_record_bytes + kOverheadBytes)},
         {"batch.size", std::to_string(kMaxBatchBytes)},
         // the writer has its own, lower bound
         {"queue.buffering.max.messages", "10000000"},
         {"queue.buffering.max.kbytes", std::to_string((settings.writer_bytes >> 10) * 2)}}));
    return conf;
}

}  // namespace rampart::streaming_kafka
