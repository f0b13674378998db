#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "rampart/access/authenticator.hpp"
#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

/// Callers that a lender's own identity provider vouches for: bearer tokens that are JWTs (RFC
/// 7519), as of OpenID Connect and OAuth 2.0 (RFC 9068), verified with the provider's public keys
/// (JWKS, RFC 7517). Nothing is fetched over the network.
namespace rampart::identity_provider {

/// A longer token is refused.
inline constexpr size_t kMaxTokenBytes = 8192;
/// How far the provider's clock may be from ours.
inline constexpr base::Duration kClockSkew = base::Duration::seconds(60);

struct ProviderSettings {
    std::string issuer;                     // "iss" of each token, to the letter
    std::string audience;                   // has to be "aud", or in it
    std::filesystem::path keys;             // JWKS: its public keys
    std::string principal_claim = "sub";    // whose value is the actor in the audit log
    std::string scopes_claim = "scope";     // a text of words, or an array of texts
    std::string scope_prefix = "rampart:";  // "rampart:decide" in the claim is the scope decide
    base::Duration longest_life = base::Duration::hours(1);  // between "iat" and "exp"
};

/// Knows the callers with a valid token of the provider. Their name is "oidc:" and the value of the
/// principal claim, which no principal of access::Directory can have. Words of the scopes claim
/// without the prefix, or that are no scopes, are passed over; so is `grant`: tokens of a service
/// are made by those who have one. Thread safe.
class Provider final : public access::Authenticator {
  public:
    /// `clock`: the wall clock. Errors: "bad_key_set" (unreadable, no key for signatures, a secret
    /// key, RSA of less than 2048 bits); those of files.
    static base::Result<std::shared_ptr<Provider>> open(ProviderSettings settings,
                                                        const base::Clock& clock);
    ~Provider() override;

    /// Takes RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384 and ES512, and no other
    /// algorithm. "iat" and "exp" have to be there. Errors: permission_denied "unauthenticated",
    /// "token_expired".
    base::Result<access::Principal> identify(const access::Caller& caller) const override;

    /// Reads the keys anew if their file has changed, and returns whether it had. If that fails,
    /// the keys from before stay, and the error comes once for each change.
    base::Result<bool> refresh();

    /// Whether a bearer token has the form of a JWT; tokens of access::Directory never have.
    static bool has_form_of(std::string_view token);

  private:
    class Keys;
    struct Verified;
    using Stamp = std::pair<std::filesystem::file_time_type, uintmax_t>;
    struct Known {
        access::Principal principal;
        base::TimePoint from, until;  // may be taken in [from, until)
    };

    Provider(ProviderSettings settings, const base::Clock& clock);
    base::Status load();
    Stamp stamp() const;
    base::Result<Known> verify(const Keys& keys, std::string_view token) const;
    base::Result<Known> look_up(std::string_view token) const;

    const ProviderSettings settings_;
    const base::Clock& clock_;
    mutable std::mutex mutex_;  // guards what follows
    std::shared_ptr<Verified> verified_;
    Stamp stamp_{};
};

/// Asks the provider about a bearer token with the form of a JWT, and the principals of the service
/// about every other caller. No provider: these alone.
std::shared_ptr<const access::Authenticator> with_provider(
    std::shared_ptr<const access::Authenticator> principals,
    std::shared_ptr<const Provider> provider);

}  // namespace rampart::identity_provider
