#include "rampart/streaming_kafka/settings.hpp"

#include <array>
#include <utility>

#include "rampart/base/limits.hpp"
#include "rampart/streaming_kafka/reasons.hpp"

namespace rampart::streaming_kafka {
namespace {

using base::Duration;
using base::Result;
using base::Status;

constexpr std::array<std::pair<Security, std::string_view>, 4> kSecurities{
    {{Security::kPlaintext, "plaintext"},
     {Security::kTls, "tls"},
     {Security::kSaslPlaintext, "sasl_plaintext"},
     {Security::kSaslTls, "sasl_tls"}}};
constexpr std::array<std::pair<SaslMechanism, std::string_view>, 3> kMechanisms{
    {{SaslMechanism::kPlain, "PLAIN"},
     {SaslMechanism::kScramSha256, "SCRAM-SHA-256"},
     {SaslMechanism::kScramSha512, "SCRAM-SHA-512"}}};

template <class T, size_t n>
std::string_view name_of(const std::array<std::pair<T, std::string_view>, n>& all, T value) {
    for (const auto& [candidate, name] : all)
        if (candidate == value) return name;
    return "?";
}

template <class T, size_t n>
Result<T> parse(const std::array<std::pair<T, std::string_view>, n>& all, std::string_view field,
                std::string_view text) {
    std::string allowed;
    for (const auto& [value, name] : all) {
        if (name == text) return value;
        allowed += (allowed.empty() ? "" : ", ") + std::string(name);
    }
    return base::make_error(Reason::kBadKafkaSettings, "{}: '{}' is none of {}", field, text,
                            allowed);
}

template <class... Args>
Status bad(fmt::format_string<Args...> format, Args&&... args) {
    return base::make_error(Reason::kBadKafkaSettings, format, std::forward<Args>(args)...);
}

Status check_range(std::string_view field, Duration value, Duration lo, Duration hi) {
    if (lo <= value && value <= hi) return base::ok();
    return bad("{}: {} ms; {} to {} ms are allowed", field, value.micros() / 1000,
               lo.micros() / 1000, hi.micros() / 1000);
}

Status check_range(std::string_view field, size_t value, size_t lo, size_t hi) {
    if (lo <= value && value <= hi) return base::ok();
    return bad("{}: {} bytes; {} to {} are allowed", field, value, lo, hi);
}

bool uses_tls(Security security) {
    return security == Security::kTls || security == Security::kSaslTls;
}

bool uses_sasl(Security security) {
    return security == Security::kSaslPlaintext || security == Security::kSaslTls;
}

Status check_servers(std::string_view servers) {
    if (servers.empty()) {
        return bad("bootstrap_servers: is empty; give host:port, several separated by commas");
    }
    for (size_t begin = 0; begin <= servers.size();) {
        const auto server = servers.substr(begin, servers.find(',', begin) - begin);
        begin += server.size() + 1;
        const auto colon = server.rfind(':');
        const auto port = colon == std::string_view::npos ? "" : server.substr(colon + 1);
        const bool number = !port.empty() && port.size() <= 5 &&
                            port.find_first_not_of("0123456789") == std::string_view::npos;
        if (colon == 0 || !number || server.find_first_of(" \t\n\r/") != std::string_view::npos) {
            return bad("bootstrap_servers: '{}' is not host:port", server);
        }
    }
    return base::ok();
}

Status check_security(const KafkaSettings& settings) {
    const auto security = to_string(settings.security);
    const bool files = !settings.ca_file.empty() || !settings.certificate_file.empty() ||
                       !settings.key_file.empty();
    if (files && !uses_tls(settings.security)) {
        return bad(
            "security: '{}' uses no certificates; use 'tls' or 'sasl_tls', or omit "
            "ca_file, certificate_file and key_file",
            security);
    }
    if (settings.certificate_file.empty() != settings.key_file.empty()) {
        return bad("certificate_file, key_file: give both or neither");
    }
    const bool login = !settings.user.empty() || !settings.password_file.empty();
    if (!uses_sasl(settings.security)) {
        if (!login) return base::ok();
        return bad(
            "security: '{}' has no login; use 'sasl_plaintext' or 'sasl_tls', or "
            "omit user and password_file",
            security);
    }
    if (settings.user.empty() || settings.user.size() > base::limits::kMaxIdBytes) {
        return bad("user: has {} bytes; '{}' needs 1 to {}", settings.user.size(), security,
                   base::limits::kMaxIdBytes);
    }
    if (settings.password_file.empty()) return bad("password_file: '{}' needs one", security);
    return base::ok();
}

}  // namespace

std::string_view to_string(Security security) { return name_of(kSecurities, security); }
std::string_view to_string(SaslMechanism mechanism) { return name_of(kMechanisms, mechanism); }
Result<Security> parse_security(std::string_view text) {
    return parse(kSecurities, "security", text);
}
Result<SaslMechanism> parse_sasl_mechanism(std::string_view text) {
    return parse(kMechanisms, "sasl_mechanism", text);
}

Status validate(const KafkaSettings& settings) {
    RAMPART_RETURN_IF_ERROR(check_servers(settings.bootstrap_servers));
    if (settings.client_id.empty() || settings.client_id.size() > base::limits::kMaxNameBytes) {
        return bad("client_id: has {} bytes; 1 to {} are allowed", settings.client_id.size(),
                   base::limits::kMaxNameBytes);
    }
    RAMPART_RETURN_IF_ERROR(check_security(settings));
    RAMPART_RETURN_IF_ERROR(check_range("request_timeout", settings.request_timeout,
                                        Duration::micros(100'000), Duration::seconds(300)));
    RAMPART_RETURN_IF_ERROR(check_range("delivery_timeout", settings.delivery_timeout,
                                        Duration::seconds(1), Duration::seconds(600)));
    RAMPART_RETURN_IF_ERROR(check_range("stall_limit", settings.stall_limit,
                                        Duration::micros(100'000), settings.delivery_timeout));
    RAMPART_RETURN_IF_ERROR(check_range("reader_bytes_per_partition",
                                        settings.reader_bytes_per_partition, size_t{64} << 10,
                                        size_t{64} << 20));
    RAMPART_RETURN_IF_ERROR(
        check_range("writer_bytes", settings.writer_bytes, size_t{1} << 20, size_t{1} << 30));
    return check_range("max_record_bytes", settings.max_record_bytes, size_t{1} << 10,
                       size_t{64} << 20);
}

}  // namespace rampart::streaming_kafka
