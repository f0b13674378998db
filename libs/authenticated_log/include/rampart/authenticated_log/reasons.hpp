#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::authenticated_log {

#define RAMPART_AUTHENTICATED_LOG_REASONS(X)                \
    X(kReservedHeader, kInvalidArgument, "reserved_header", \
      "Give the record no header of that name, and a key, or name its partition.")
RAMPART_REASONS("authenticated_log", RAMPART_AUTHENTICATED_LOG_REASONS)

}  // namespace rampart::authenticated_log
