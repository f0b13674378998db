#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/identity_provider/provider.hpp"

struct _cjose_jwk_int;

namespace rampart::identity_provider {

/// Public keys of a JWKS document (RFC 7517, section 5). Const members are thread safe.
class Provider::Keys {
  public:
    /// Errors: "bad_key_set".
    static base::Result<std::shared_ptr<const Keys>> parse(std::string_view text);

    /// Returns the claims of a token in the compact form (RFC 7515, section 7.1), as JSON text,
    /// once its signature is verified. Errors: "unauthenticated".
    base::Result<std::string> verify(std::string_view token) const;

  private:
    struct Release {
        void operator()(_cjose_jwk_int* key) const;
    };
    struct Key {
        std::string id;         // "kid"; may be empty
        std::string algorithm;  // "alg"; empty: any of its type
        bool rsa = false;       // else of an elliptic curve
        std::unique_ptr<_cjose_jwk_int, Release> handle;
    };
    const Key* find(std::string_view id, std::string_view algorithm) const;

    std::vector<Key> keys_;
};

}  // namespace rampart::identity_provider
