#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::config {

#define RAMPART_CONFIG_REASONS(X)                                                           \
    X(kBadConfiguration, kInvalidArgument, "bad_configuration",                             \
      "Correct the key in the line that the message names; ops/config/rampartd.toml lists " \
      "every key.")                                                                         \
    X(kBadCredentialName, kInvalidArgument, "bad_credential_name",                          \
      "Name the credential as LoadCredential= in the unit does, without a path.")           \
    X(kBadToml, kInvalidArgument, "bad_toml",                                               \
      "Correct the TOML syntax in the line that the message names.")                        \
    X(kNoCredential, kNotFound, "no_credential",                                            \
      "Hand the secret over by LoadCredential= in the unit of the service, run a command "  \
      "by systemd-run with the same credentials, or name a file (ops/runbooks/keys.md).")
RAMPART_REASONS("config", RAMPART_CONFIG_REASONS)

}  // namespace rampart::config
