#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::counterfactuals {

#define RAMPART_COUNTERFACTUALS_REASONS(X)                                                       \
    X(kBadChanges, kInvalidArgument, "bad_changes",                                              \
      "Correct the file of changes: it may name features of the policy that applicants can "     \
      "act on, each once, and no protected or immutable one (ops/runbooks/counterfactuals.md).") \
    X(kNotADecline, kFailedPrecondition, "not_a_decline",                                        \
      "Ask what would have changed a decision only of one whose drawn action is decline.")
RAMPART_REASONS("counterfactuals", RAMPART_COUNTERFACTUALS_REASONS)

}  // namespace rampart::counterfactuals
