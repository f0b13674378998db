#pragma once

#include "rampart/base/error.hpp"

/// Why this room refuses or fails.
namespace rampart::storage {

#define RAMPART_STORAGE_REASONS(X)                                                              \
    X(kBackupDamaged, kDataLoss, "backup_damaged",                                              \
      "Restore from another backup, and make a new one into a new folder.")                     \
    X(kBackupInUse, kFailedPrecondition, "backup_in_use",                                       \
      "Wait until the other process has finished with the backups.")                            \
    X(kBackupInsideStore, kInvalidArgument, "backup_inside_store",                              \
      "Name a folder outside the store, best on another disk.")                                 \
    X(kBackupRunning, kFailedPrecondition, "backup_running",                                    \
      "Wait until the other backup of this store has finished.")                                \
    X(kBadBackupItem, kInvalidArgument, "bad_backup_item",                                      \
      "Give every path once, inside the store, without '..' and line breaks.")                  \
    X(kBadColumnFamilies, kInvalidArgument, "bad_column_families",                              \
      "Give every column family a name of its own that is not reserved.")                       \
    X(kBadCount, kInvalidArgument, "bad_count", "Keep one backup or more.")                     \
    X(kBadMemoryBudget, kInvalidArgument, "bad_memory_budget",                                  \
      "Give the memory budget that the message names, or more.")                                \
    X(kBadMigrations, kInvalidArgument, "bad_migrations",                                       \
      "Give migrations that lead step by step up to the version.")                              \
    X(kCheckpointExists, kAlreadyExists, "checkpoint_exists",                                   \
      "Name a folder that does not exist yet.")                                                 \
    X(kCopyExists, kAlreadyExists, "copy_exists", "Name a folder that does not exist yet.")     \
    X(kCorrupt, kDataLoss, "corrupt",                                                           \
      "Restore the database from a backup, or let it be made anew from the log "                \
      "(ops/runbooks/damage.md).")                                                              \
    X(kDatabaseError, kInternal, "database_error",                                              \
      "Read the message and the log of the database; report the case.")                         \
    X(kDatabaseStopped, kUnavailable, "database_stopped",                                       \
      "Mend the cause in the message, and start the program again; what was acknowledged is "   \
      "safe.")                                                                                  \
    X(kDatabaseTooBusy, kUnavailable, "database_too_busy", "Try again when less is written.")   \
    X(kInUse, kUnavailable, "in_use", "Wait until the open read has ended.")                    \
    X(kMigrationStuck, kInternal, "migration_stuck",                                            \
      "Restore the database from a backup, and report the case.")                               \
    X(kMissingColumnFamily, kFailedPrecondition, "missing_column_family",                       \
      "Let the service open the database once.")                                                \
    X(kNewerVersion, kFailedPrecondition, "newer_version",                                      \
      "Use the release that wrote it, or restore a backup from before.")                        \
    X(kNoBackup, kNotFound, "no_backup",                                                        \
      "Name one of the backups that `rampart backup list` shows, or make one.")                 \
    X(kNoBackups, kNotFound, "no_backups",                                                      \
      "Name the folder of the backups, or make one with `rampart backup create`.")              \
    X(kNoDatabase, kNotFound, "no_database",                                                    \
      "Correct the path; a store is made by `rampart serve`.")                                  \
    X(kNoFileKey, kFailedPrecondition, "no_file_key",                                           \
      "Put the key with the id in the message back: ops/runbooks/keys.md.")                     \
    X(kNoFolder, kNotFound, "no_folder",                                                        \
      "Name a folder that exists and may be written, or make it.")                              \
    X(kNotABackup, kFailedPrecondition, "not_a_backup", "Name another folder for the backups.") \
    X(kOlderVersion, kFailedPrecondition, "older_version",                                      \
      "Let the service open the database once, which migrates it, or migrate it with an "       \
      "earlier release first.")                                                                 \
    X(kOtherFileSystem, kFailedPrecondition, "other_file_system",                               \
      "Name a folder on the same file system.")                                                 \
    X(kReadOnly, kFailedPrecondition, "read_only",                                              \
      "Open the store for writing, which only the service that owns it may do.")                \
    X(kSnapshotHeld, kFailedPrecondition, "snapshot_held",                                      \
      "Try again when the reader has finished.")                                                \
    X(kStateDamaged, kDataLoss, "state_damaged",                                                \
      "Follow ops/runbooks/damage.md: the log no longer has all that is needed to make it "     \
      "anew.")                                                                                  \
    X(kStoreNotEmpty, kAlreadyExists, "store_not_empty",                                        \
      "Name a new folder, or move this one out of the way.")                                    \
    X(kUnknownColumnFamily, kFailedPrecondition, "unknown_column_family",                       \
      "Name the database of this part of the product, or use the release that made it.")
RAMPART_REASONS("storage", RAMPART_STORAGE_REASONS)

}  // namespace rampart::storage
