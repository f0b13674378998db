#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::rampartd {

#define RAMPART_RAMPARTD_REASONS(X)                                                           \
    X(kBadClockFile, kDataLoss, "bad_clock_file",                                             \
      "Write the time at which the store was last used into the file, as the message shows.") \
    X(kBadNotice, kDataLoss, "bad_notice",                                                    \
      "Look at the topic of policies: another program wrote to it, or the record is "         \
      "damaged.")                                                                             \
    X(kClockJump, kFailedPrecondition, "clock_jump",                                          \
      "Correct the clock, or accept it with `rampart clock accept`; in a replay, move it in " \
      "smaller steps.")                                                                       \
    X(kClockJumpTooFar, kOutOfRange, "clock_jump",                                            \
      "Correct the clock, or accept it with `rampart clock accept`; in a replay, move it in " \
      "smaller steps.")                                                                       \
    X(kEmptyBatch, kInvalidArgument, "empty_batch", "Send one JSON object a line.")           \
    X(kEventClock, kFailedPrecondition, "event_clock", "Move time by POST /v1/clock.")        \
    X(kNoChampion, kInternal, "no_champion",                                                  \
      "Start the node once with `rampart serve`: it declares the first policy of the "        \
      "configuration.")                                                                       \
    X(kNoJump, kFailedPrecondition, "no_jump", "Leave the clock: it is not in doubt.")        \
    X(kNoModel, kNotFound, "no_model",                                                        \
      "Restore the model at the node that promoted it, or promote it again there.")           \
    X(kOnHold, kFailedPrecondition, "on_hold",                                                \
      "Wait until the hold ends, or remove it with `rampart hold remove`.")                   \
    X(kRetention, kFailedPrecondition, "retention",                                           \
      "Erase the person after the end of the retention time (privacy.retention_months).")     \
    X(kSystemClock, kFailedPrecondition, "system_clock",                                      \
      "Set clock.mode = \"event\" to replay a stream.")                                       \
    X(kTrainsElsewhere, kFailedPrecondition, "trains_elsewhere",                              \
      "Ask the node of the group that trains.")                                               \
    X(kUnknownApplication, kNotFound, "unknown_application",                                  \
      "Name the person, or ask the node that holds the application's partition.")             \
    X(kUnknownPerson, kNotFound, "unknown_person",                                            \
      "Check the person's id; nothing is held under this one.")
RAMPART_REASONS("rampartd", RAMPART_RAMPARTD_REASONS)

}  // namespace rampart::rampartd
