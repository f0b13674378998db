#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::config {

#define RAMPART_CONFIG_REASONS(X)                                                           \
    X(kBadConfiguration, kInvalidArgument, "bad_configuration",                             \
      "Correct the key in the line that the message names; ops/config/rampartd.toml lists " \
      "every key.")                                                                         \
    X(kBadToml, kInvalidArgument, "bad_toml",                                               \
      "Correct the TOML syntax in the line that the message names.")
RAMPART_REASONS("config", RAMPART_CONFIG_REASONS)

}  // namespace rampart::config
