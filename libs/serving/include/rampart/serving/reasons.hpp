#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::serving {

#define RAMPART_SERVING_REASONS(X)                                                          \
    X(kApplicationDiffers, kAlreadyExists, "application_differs",                           \
      "Give the new application an id of its own.")                                         \
    X(kEventTimeOutside, kOutOfRange, "event_time_outside",                                 \
      "Send the application's time in UTC; set event_time.max_age_days and max_ahead_days " \
      "for a replay.")                                                                      \
    X(kGroupBlindService, kFailedPrecondition, "group_blind_service",                       \
      "Promote a policy without groups, or decide in a service that knows groups.")         \
    X(kNoPolicy, kUnavailable, "no_policy",                                                 \
      "Start the node that keeps the champions, or promote a policy, then try again.")      \
    X(kObservedBeforeDecision, kOutOfRange, "observed_before_decision",                     \
      "Send the time when the outcome showed, in UTC.")                                     \
    X(kObservedInFuture, kOutOfRange, "observed_in_future",                                 \
      "Send outcomes when they show; set event_time.max_ahead_days for a replay.")          \
    X(kOtherArms, kFailedPrecondition, "other_arms",                                        \
      "Give the champion's arm first, a policy for each other arm, and a key for arms.")    \
    X(kOverloaded, kResourceExhausted, "overloaded",                                        \
      "Try again later, or send fewer applications at once.")                               \
    X(kUnknownDecision, kNotFound, "unknown_decision",                                      \
      "Correct the id, or ask the node that holds its partition.")
RAMPART_REASONS("serving", RAMPART_SERVING_REASONS)

}  // namespace rampart::serving
