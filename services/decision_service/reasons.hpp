#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::decision_service {

#define RAMPART_DECISION_SERVICE_REASONS(X)                                            \
    X(kNoChampion, kNotFound, "no_champion",                                           \
      "Start the node once with `rampart serve`: it declares the first policy of the " \
      "configuration.")                                                                \
    X(kNoPolicy, kNotFound, "no_policy",                                               \
      "Start the node that keeps the champions, or promote a policy, then try again.")
RAMPART_REASONS("decision_service", RAMPART_DECISION_SERVICE_REASONS)

}  // namespace rampart::decision_service
