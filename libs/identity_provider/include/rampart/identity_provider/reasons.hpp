#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails. What is wrong with a token is access's "unauthenticated".
namespace rampart::identity_provider {

#define RAMPART_IDENTITY_PROVIDER_REASONS(X)                                                    \
    X(kBadKeySet, kInvalidArgument, "bad_key_set",                                              \
      "Fetch the provider's JWKS document (its discovery document names it as jwks_uri) again " \
      "and put it whole in the place of http.oidc.keys_file.")
RAMPART_REASONS("identity_provider", RAMPART_IDENTITY_PROVIDER_REASONS)

}  // namespace rampart::identity_provider
