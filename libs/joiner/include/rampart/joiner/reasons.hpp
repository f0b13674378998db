#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::joiner {

#define RAMPART_JOINER_REASONS(X)                                                                  \
    X(kBadJoinState, kDataLoss, "bad_join_state",                                                  \
      "Restore the joined state from a backup, or let it be made anew from the log.")              \
    X(kBadStateHash, kDataLoss, "bad_state_hash",                                                  \
      "Restore the joined state from a backup, or let it be made anew from the log.")              \
    X(kConflictingDecision, kAlreadyExists, "conflicting_decision",                                \
      "Give the new decision an id of its own; the first one stays.")                              \
    X(kConflictingOutcome, kAlreadyExists, "conflicting_outcome",                                  \
      "Send a correction with a higher revision; the first report stays.")                         \
    X(kConflictingOverride, kAlreadyExists, "conflicting_override",                                \
      "Send a correction with a higher revision; the first report stays.")                         \
    X(kCorruptIndex, kDataLoss, "corrupt_index",                                                   \
      "Restore the joined state from a backup, or let it be made anew from the log.")              \
    X(kReadingInterrupted, kUnavailable, "reading_interrupted",                                    \
      "Read on when the process runs again: nothing is lost.")                                     \
    X(kMeasuresChanged, kFailedPrecondition, "measures_changed",                                   \
      "Restore the measures in the configuration, or give a new folder, which replays the "        \
      "log.")                                                                                      \
    X(kNotHeld, kFailedPrecondition, "not_held",                                                   \
      "Replay the record at the node that holds the decision's partition.")                        \
    X(kNotStopped, kFailedPrecondition, "not_stopped",                                             \
      "Leave the partition: it has no gap to accept.")                                             \
    X(kStateRebuilding, kUnavailable, "state_rebuilding",                                          \
      "Try again in a while; the state is being made anew from the log.")                          \
    X(kTooManyReports, kOutOfRange, "too_many_reports",                                            \
      "Report each outcome once; this decision has as many reports as are kept.")                  \
    X(kUnknownMeasure, kNotFound, "unknown_measure",                                               \
      "Use a measure that the product declares, or declare it.")                                   \
    X(kUnknownTopic, kNotFound, "unknown_topic", "Name one of the topics that the message lists.") \
    X(kWithheldOutcome, kAlreadyExists, "withheld_outcome",                                        \
      "Send a correction with a higher revision; the first report stays.")
RAMPART_REASONS("joiner", RAMPART_JOINER_REASONS)

}  // namespace rampart::joiner
