#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::decision_service {

#define RAMPART_DECISION_SERVICE_REASONS(X)                                                 \
    X(kApplicationDiffers, kAlreadyExists, "application_differs",                           \
      "Give the new application an id of its own.")                                         \
    X(kErased, kFailedPrecondition, "erased", "Give a new application an id of its own.")   \
    X(kEventTimeOutside, kOutOfRange, "event_time_outside",                                 \
      "Send the application's time in UTC; set event_time.max_age_days and max_ahead_days " \
      "for a replay.")                                                                      \
    X(kFenced, kFailedPrecondition, "fenced",                                               \
      "Ask the node that owns the partition now (the route of decisions answers 421).")     \
    X(kGroupBlindService, kFailedPrecondition, "group_blind_service",                       \
      "Promote a policy without groups, or decide in a service that knows groups.")         \
    X(kNoChampion, kNotFound, "no_champion",                                                \
      "Start the node once with `rampart serve`: it declares the first policy of the "      \
      "configuration.")                                                                     \
    X(kNoEpoch, kInternal, "no_epoch",                                                      \
      "Start the node again, so that it claims the partition; report the case.")            \
    X(kNoPolicy, kUnavailable, "no_policy",                                                 \
      "Start the node that keeps the champions, or promote a policy, then try again.")      \
    X(kNoPolicyToShow, kNotFound, "no_policy",                                              \
      "Start the node that keeps the champions, or promote a policy, then try again.")      \
    X(kNotCounted, kInternal, "not_counted", "Start the node again, and report the case.")  \
    X(kNotOwner, kFailedPrecondition, "not_owner",                                          \
      "Ask the node that the message names (the route of decisions answers 421).")          \
    X(kObservedBeforeDecision, kOutOfRange, "observed_before_decision",                     \
      "Send the time when the outcome showed, in UTC.")                                     \
    X(kObservedInFuture, kOutOfRange, "observed_in_future",                                 \
      "Send outcomes when they show; set event_time.max_ahead_days for a replay.")          \
    X(kOverloaded, kResourceExhausted, "overloaded",                                        \
      "Try again later, or send fewer applications at once.")                               \
    X(kPartitionRebuilding, kUnavailable, "partition_rebuilding",                           \
      "Try again in a while; the index is being made anew from the log.")                   \
    X(kPartitionStopped, kUnavailable, "partition_stopped",                                 \
      "Follow ops/runbooks/partitions.md for the cause in the message.")                    \
    X(kUnknownDecision, kNotFound, "unknown_decision",                                      \
      "Correct the id, or ask the node that holds its partition.")
RAMPART_REASONS("decision_service", RAMPART_DECISION_SERVICE_REASONS)

}  // namespace rampart::decision_service
