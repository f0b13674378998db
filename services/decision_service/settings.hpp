#pragma once

#include <filesystem>
#include <optional>

#include "rampart/base/result.hpp"
#include "rampart/config/secret_file.hpp"
#include "rampart/config/table.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/http/server.hpp"
#include "rampart/identity_provider/provider.hpp"
#include "rampart/serving/event_window.hpp"

namespace rampart::decision_service {

/// Settings of the stand-alone program. Paths in the file are relative to the file.
///
///     store = "/var/lib/rampart"      # log, index, keys
///     product = "product.toml"
///     registry = "registry"           # whose champion decides; opened for reading only
///     registry_poll_seconds = 5
///     partitions = 4                  # of a topic that is made
///     exploration_per_day = 1000
///     cool_off_days = 30              # decision::CoolOff, 1 to 3650
///     [event_time]
///     max_age_days = 30               # EventWindow
///     max_ahead_days = 1
///     [http]
///     address = "127.0.0.1"
///     port = 8080
///     threads = 32
///     max_connections = 1024
///     connections_by_principal = 512  # default: half of max_connections
///     longest_wait_ms = 3000          # ServerOptions::longest_wait
///     gather_ms = 2                   # ServerOptions::gather
///     plaintext = "loopback_only"     # or "any_address": ServerOptions::plaintext_anywhere
///     [http.tls]                      # TlsFiles; without certificate_file: plain HTTP
///     certificate_file = "server.pem"
///     key_file = "server.key"         # or "credential:NAME", as config::secret_file() says
///     client_ca_file = ""             # not empty: clients must show a certificate
///     min_version = "1.3"             # or "1.2"
///     [http.oidc]                     # ProviderSettings; without issuer: no such tokens
///     issuer = "https://login.lender.example"
///     audience = "rampart"
///     keys_file = "jwks.json"
///     principal_claim = "sub"
///     scopes_claim = "scope"
///     scope_prefix = "rampart:"
///     longest_minutes = 60            # 1 to 1440
struct Settings {
    std::filesystem::path store, product, registry;
    base::Duration registry_poll;
    int32_t partitions = 4;
    uint64_t exploration_per_day = 1000;
    int cool_off_days = domain::kDefaultCoolOffDays;
    serving::EventWindow event_window;
    http::ServerOptions http;
    std::optional<identity_provider::ProviderSettings> oidc;
};

/// Returns the folder of a configuration file, and what systemd has handed to this process.
config::Places places_of(const std::filesystem::path& file);

/// Reads the table [http] but for keys that are not of the server.
http::ServerOptions read_http(config::Table table, const config::Places& places);

/// Reads the table [http.oidc]; nullopt: nothing is in it.
std::optional<identity_provider::ProviderSettings> read_oidc(config::Table table,
                                                             const std::filesystem::path& folder);

/// Strict: unknown keys are errors.
base::Result<Settings> load_settings(const std::filesystem::path& file);

}  // namespace rampart::decision_service
