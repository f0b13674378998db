#include "services/decision_service/settings.hpp"

#include <cstdlib>

namespace rampart::decision_service {

namespace {

std::optional<http::TlsFiles> read_tls(config::Table table, const config::Places& places) {
    http::TlsFiles tls;
    const auto read = [&](const char* key, std::filesystem::path& file) {
        if (const auto name = table.string(key, ""); !name.empty()) file = places.folder / name;
    };
    read("certificate_file", tls.certificate);
    tls.key = config::secret_file(table, "key_file", places);
    read("client_ca_file", tls.client_ca);
    const auto least = table.choice("min_version", {"1.2", "1.3"}, "1.3");
    tls.least = least == "1.2" ? http::TlsVersion::k12 : http::TlsVersion::k13;
    if (tls.certificate.empty() && tls.key.empty() && tls.client_ca.empty()) return std::nullopt;
    if (tls.certificate.empty()) {
        table.fail("certificate_file", "is required for TLS: a PEM file with the certificate");
    }
    if (tls.key.empty()) {
        table.fail("key_file", "is required for TLS: a PEM file with the certificate's key");
    }
    return tls;
}

}  // namespace

config::Places places_of(const std::filesystem::path& file) {
    const char* credentials = std::getenv("CREDENTIALS_DIRECTORY");
    return {file.parent_path(), credentials == nullptr ? "" : credentials};
}

http::ServerOptions read_http(config::Table table, const config::Places& places) {
    http::ServerOptions options;
    options.tls = read_tls(table.table("tls"), places);
    options.plaintext_anywhere = table.choice("plaintext", {"loopback_only", "any_address"},
                                              "loopback_only") == "any_address";
    options.address = table.string("address", "127.0.0.1");
    options.port = static_cast<uint16_t>(table.integer("port", 0, 65535, 8080));
    const auto count = [&](const char* key, int64_t most, size_t usual) {
        return static_cast<size_t>(table.integer(key, 1, most, static_cast<int64_t>(usual)));
    };
    options.threads = count("threads", 256, options.threads);
    options.max_connections = count("max_connections", 1'000'000, options.max_connections);
    options.connections_by_principal = count("connections_by_principal", 1'000'000,
                                             std::max<size_t>(1, options.max_connections / 2));
    options.longest_wait = base::Duration::micros(
        1000 * table.integer("longest_wait_ms", 10, 60'000, options.longest_wait.micros() / 1000));
    options.gather = base::Duration::micros(
        1000 * table.integer("gather_ms", 0, 100, options.gather.micros() / 1000));
    options.max_body_bytes_in_flight =
        static_cast<size_t>(table.integer("body_mib_in_flight", 1, 65'536, 256)) << 20;
    options.requests_per_second_by_principal =
        table.number("requests_per_second_by_principal", 0, 1e9, 0);
    options.requests_per_second_by_address =
        table.number("requests_per_second_by_address", 0, 1e9, 0);
    return options;
}

std::optional<identity_provider::ProviderSettings> read_oidc(config::Table table,
                                                             const std::filesystem::path& folder) {
    identity_provider::ProviderSettings oidc;
    oidc.issuer = table.string("issuer", "");
    oidc.audience = table.string("audience", "");
    const auto keys = table.string("keys_file", "");
    oidc.principal_claim = table.string("principal_claim", oidc.principal_claim);
    oidc.scopes_claim = table.string("scopes_claim", oidc.scopes_claim);
    oidc.scope_prefix = table.string("scope_prefix", oidc.scope_prefix);
    oidc.longest_life = base::Duration::seconds(60 * table.integer("longest_minutes", 1, 1440, 60));
    if (oidc.issuer.empty() && oidc.audience.empty() && keys.empty()) return std::nullopt;
    const auto need = [&](const char* key, const std::string& value, const char* what) {
        if (value.empty())
            table.fail(key,
                       fmt::format("is required for tokens of an identity provider: {}", what));
    };
    need("issuer", oidc.issuer, "what their \"iss\" is");
    need("audience", oidc.audience, "what their \"aud\" has, the name of this service there");
    need("keys_file", keys, "the file with the provider's public keys (JWKS)");
    oidc.keys = folder / keys;
    return oidc;
}

base::Result<Settings> load_settings(const std::filesystem::path& file) {
    RAMPART_TRY(auto root, config::parse_file(file));
    const auto path = [&](std::string_view key) { return file.parent_path() / root.string(key); };
    Settings settings;
    settings.store = path("store");
    settings.product = path("product");
    settings.registry = path("registry");
    settings.registry_poll =
        base::Duration::seconds(root.integer("registry_poll_seconds", 1, 3600, 5));
    settings.partitions = static_cast<int32_t>(root.integer("partitions", 1, 1024, 4));
    settings.exploration_per_day =
        static_cast<uint64_t>(root.integer("exploration_per_day", 0, 1'000'000'000, 1000));
    settings.cool_off_days = static_cast<int>(
        root.integer("cool_off_days", 1, domain::kMaxCoolOffDays, domain::kDefaultCoolOffDays));
    settings.event_window = serving::read_event_window(root.table("event_time"));
    settings.http = read_http(root.table("http"), places_of(file));
    settings.oidc = read_oidc(root.table("http").table("oidc"), file.parent_path());
    RAMPART_RETURN_IF_ERROR(root.finish());
    return settings;
}

}  // namespace rampart::decision_service
