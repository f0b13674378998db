#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/access/scope.hpp"
#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

/// The file of principals: TOML, mode 0600, one [[principal]] each. It holds digests of tokens, and
/// no token.
namespace rampart::access {

inline constexpr size_t kMaxPrincipals = 1000;

/// A principal as it stands in the file.
struct Entry {
    std::string name;  // 1 to 64 of a-z, 0-9, '.', '_', '-'; the first one a letter or digit
    Scopes scopes;     // at least one
    std::string token_sha256 = {};  // 64 hex digits; empty: known by its certificate only
    // Token before the last rotation, and until when it is taken as well.
    std::string previous_sha256 = {};
    std::optional<base::TimePoint> previous_until = {};
    std::string certificate = {};  // "URI:…", "DNS:…", "email:…" or "subject:CN=…"; empty: none
    std::vector<std::string> addresses = {};  // networks, "10.0.0.0/8"; empty: any
    base::TimePoint created = {};
    std::optional<base::TimePoint> expires = {};  // nullopt: never
    bool operator==(const Entry&) const = default;
};

/// Errors: "bad_principal" with the field and its value.
base::Status check(const Entry& entry);

/// Returns whether a numeric address lies in one of the networks; an IPv4 address may be given in
/// its IPv6 form. No networks: every address does.
bool allows(const std::vector<std::string>& networks, std::string_view address);

/// Reads the file; one that is not there has no entries. Errors: permission_denied "secret_exposed"
/// (others than the owner have access), those of config::Table, "bad_principal".
base::Result<std::vector<Entry>> read_principals(const std::filesystem::path& file);

/// Puts an entry with a token of the caller's choice into the file. Errors: "principal_exists",
/// "too_many_principals", "bad_principal"; as read_principals().
base::Status add_principal(const std::filesystem::path& file, Entry entry);

/// As add_principal(), with a new token, which is returned and kept nowhere.
base::Result<std::string> create(const std::filesystem::path& file, Entry entry);

/// Takes a principal out. Errors: "no_principal".
base::Status revoke(const std::filesystem::path& file, std::string_view name);

/// Gives a principal a new token, which is returned; the one before is taken until `grace` has
/// passed. Errors: "no_principal"; "bad_principal" where it is known by a certificate only.
base::Result<std::string> rotate(const std::filesystem::path& file, std::string_view name,
                                 base::TimePoint now, base::Duration grace);

}  // namespace rampart::access
