#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::demo {

#define RAMPART_DEMO_REASONS(X)                                                       \
    X(kBadAnswer, kInternal, "bad_answer", "Report the case with the service's log.") \
    X(kFolderInUse, kFailedPrecondition, "folder_in_use",                             \
      "Choose another folder, or remove what is in it.")                              \
    X(kHttpError, kFailedPrecondition, "http_error",                                  \
      "Read the service's log for the status in the message.")                        \
    X(kNoFolder, kUnavailable, "no_folder",                                           \
      "Name a folder that exists and may be written, or make it.")                    \
    X(kNoLog, kUnavailable, "no_log", "Name a folder that may be written.")           \
    X(kNoProcess, kUnavailable, "no_process",                                         \
      "Build the program, and check that it may be started.")                         \
    X(kRecipeFailed, kFailedPrecondition, "recipe_failed",                            \
      "Read the service's log in the recipe's folder, and mend the cause.")           \
    X(kServiceEnded, kFailedPrecondition, "service_ended",                            \
      "Read the service's log, and mend the cause.")                                  \
    X(kServiceFailed, kFailedPrecondition, "service_failed",                          \
      "Read the service's log, and mend the cause.")                                  \
    X(kServiceSlow, kUnavailable, "service_slow",                                     \
      "Read the service's log, and try again on a machine with less to do.")
RAMPART_REASONS("demo", RAMPART_DEMO_REASONS)

}  // namespace rampart::demo
