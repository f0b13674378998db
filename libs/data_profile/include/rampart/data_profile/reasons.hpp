#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::data_profile {

#define RAMPART_DATA_PROFILE_REASONS(X)                          \
    X(kBadProfilePeriod, kInvalidArgument, "bad_profile_period", \
      "Take --period month, quarter or year, and a longer one where there are too many.")
RAMPART_REASONS("data_profile", RAMPART_DATA_PROFILE_REASONS)

}  // namespace rampart::data_profile
