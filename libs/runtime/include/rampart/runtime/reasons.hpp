#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::runtime {

#define RAMPART_RUNTIME_REASONS(X)                                                            \
    X(kAlreadyInstalled, kFailedPrecondition, "already_installed",                            \
      "Install one Shutdown in a process.")                                                   \
    X(kBadClockFile, kDataLoss, "bad_clock_file",                                             \
      "Write the time at which the store was last used into the file, as the message shows.") \
    X(kBadJobRecord, kDataLoss, "bad_job_record",                                             \
      "Send the request again, and delete the file in the store's folder jobs; it was not "   \
      "done, or not to its end.")                                                             \
    X(kBadKeyFile, kInvalidArgument, "bad_key_file",                                          \
      "Give a file that `rampart keys export` wrote, whole and unchanged.")                   \
    X(kBadSecret, kDataLoss, "bad_secret",                                                    \
      "Restore the secret's file from the backup of the keys; it holds exactly the hex "      \
      "digits of one key.")                                                                   \
    X(kClockJump, kFailedPrecondition, "clock_jump",                                          \
      "Correct the clock, or accept it with `rampart clock accept`; in a replay, move it in " \
      "smaller steps.")                                                                       \
    X(kJobStuck, kUnavailable, "job_stuck",                                                   \
      "Look into the log and at GET /v1/status; if the job does not go on, restart the "      \
      "process: nothing that was answered is lost.")                                          \
    X(kJobThrew, kInternal, "job_threw",                                                      \
      "Look into the log; give the process more memory if it says bad_alloc. Repeated work "  \
      "is tried again; send a request again.")                                                \
    X(kKeyMissing, kFailedPrecondition, "key_missing",                                        \
      "Restore the key from the backup of the keys (ops/runbooks/backup.md).")                \
    X(kNoAccess, kUnavailable, "no_access",                                                   \
      "Give this user the right to read and write the path, or name another path.")           \
    X(kNoFileLimit, kUnavailable, "no_file_limit",                                            \
      "Check the limits of the process: open files can be neither read nor raised.")          \
    X(kNoPipe, kResourceExhausted, "no_pipe", "Give the process more open files.")            \
    X(kNoSecret, kNotFound, "no_secret",                                                      \
      "Put the secret's file there, or let a new store make it.")                             \
    X(kNoStore, kUnavailable, "no_store",                                                     \
      "Name the folder of a store, or a folder where `rampart serve` may make one.")          \
    X(kShortPassphrase, kInvalidArgument, "short_passphrase",                                 \
      "Give a passphrase of at least the length that the message names, on one line.")        \
    X(kTooFewFiles, kFailedPrecondition, "too_few_files",                                     \
      "Raise the hard limit of open files (systemd: LimitNOFILE), or configure fewer "        \
      "partitions or connections.")                                                           \
    X(kTooManyJobs, kResourceExhausted, "too_many_jobs",                                      \
      "Send the request again when a job has ended: GET /v1/jobs lists them.")                \
    X(kUnknownJob, kNotFound, "unknown_job",                                                  \
      "List the jobs with GET /v1/jobs; those that ended long ago are forgotten.")            \
    X(kWrongPassphrase, kPermissionDenied, "wrong_passphrase",                                \
      "Give the passphrase with which the keys were exported; if it is the right one, the "   \
      "file is damaged: take another copy.")
RAMPART_REASONS("runtime", RAMPART_RUNTIME_REASONS)

}  // namespace rampart::runtime
