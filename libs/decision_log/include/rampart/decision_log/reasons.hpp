#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::decision_log {

#define RAMPART_DECISION_LOG_REASONS(X)                                                    \
    X(kErased, kFailedPrecondition, "erased", "Give a new application an id of its own.")  \
    X(kFenced, kFailedPrecondition, "fenced",                                              \
      "Ask the node that owns the partition now (the route of decisions answers 421).")    \
    X(kNoEpoch, kInternal, "no_epoch",                                                     \
      "Start the node again, so that it claims the partition; report the case.")           \
    X(kNotCounted, kInternal, "not_counted", "Start the node again, and report the case.") \
    X(kNotOwner, kFailedPrecondition, "not_owner",                                         \
      "Ask the node that owner or message names (the route of decisions answers 421).")    \
    X(kPartitionRebuilding, kUnavailable, "partition_rebuilding",                          \
      "Try again in a while; the index is being made anew from the log.")                  \
    X(kPartitionStopped, kUnavailable, "partition_stopped",                                \
      "Follow ops/runbooks/partitions.md for the cause in the message.")
RAMPART_REASONS("decision_log", RAMPART_DECISION_LOG_REASONS)

}  // namespace rampart::decision_log
