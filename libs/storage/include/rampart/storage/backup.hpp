#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"

namespace rampart::storage {

/// A part of a store that is backed up, by its path relative to the store.
struct BackupItem {
    enum class Kind {
        kDatabase,  // the folder of one
        kFile,
        kSecret,  // a file that only its owner may read: here, in the backup and after restoring
    };
    Kind kind = Kind::kFile;
    std::string path;
    // What is taken in place of a file, with mode 0600: as it was read before, for one that may
    // change or go meanwhile. Not in what is read back.
    std::optional<std::string> content{};
    bool operator==(const BackupItem&) const = default;
};

struct BackupInfo {
    uint64_t id = 0;  // counts up from 1
    base::TimePoint created;
    std::vector<BackupItem> items;                // in the order in which they were taken
    uint64_t bytes = 0;                           // bytes of all that it restores
    std::map<std::string, base::Digest> digests;  // SHA-256 of each file, by its path
    std::string damage;  // why its list cannot be read: all but the id is unknown
    bool with_secrets() const;
};

/// A folder of backups of one store, each whole in itself, that share what they have in common: a
/// table of a database and a file of the same content are there once (RocksDB's BackupEngine, and
/// files by their SHA-256).
///
/// A backup exists from the moment that its list is in place, which is the last thing that create()
/// does; a crash before that leaves rubbish that the next create() or keep_newest() sweeps away.
/// All is synced. What is read back is compared with the checksums taken when it was written.
///
/// The folder is 0700. One process at a time may change it, while no other reads it. Thread safe:
/// no.
///
/// Errors beside those named: data_loss "backup_damaged" (says what); failed_precondition
/// "backup_in_use"; resource_exhausted "disk_full"; permission_denied "no_access".
class BackupFolder {
  public:
    enum class Mode { kRead, kChange };

    /// kChange makes the folder if need be. not_found "no_backups"; failed_precondition
    /// "not_a_backup": the folder holds something else; "newer_version": made by a later release.
    static base::Result<std::unique_ptr<BackupFolder>> open(const std::filesystem::path& folder,
                                                            Mode mode);
    ~BackupFolder();

    /// Takes the items one after the other, each as it stands when its turn comes: an item that was
    /// derived from another has to be taken before it. The databases may be in use by another
    /// process (live_copy.hpp). Their tables are linked into `store`/.backup meanwhile. `rest` is
    /// asked for the last items when all others have been taken: files that a database names and
    /// that may be written meanwhile. failed_precondition "backup_running": of the same store, by
    /// another process; invalid_argument "bad_backup_item": absolute, has "..", twice, or a line
    /// break.
    using Rest = std::function<base::Result<std::vector<BackupItem>>()>;
    base::Result<BackupInfo> create(const std::filesystem::path& store,
                                    const std::vector<BackupItem>& items, base::TimePoint now,
                                    const Rest& rest = {});

    /// The oldest first.
    base::Result<std::vector<BackupInfo>> list() const;
    /// not_found "no_backup".
    base::Result<BackupInfo> info(uint64_t id) const;

    /// Reads every byte of a backup and compares checksums. not_found "no_backup".
    base::Status verify(uint64_t id) const;

    /// Makes `store` what was backed up; it appears whole, or not at all. Every block of every
    /// database is read and its checksum compared on the way. not_found "no_backup"; already_exists
    /// "store_not_empty".
    base::Result<BackupInfo> restore(uint64_t id, const std::filesystem::path& store) const;

    /// Puts those items of a backup that have one of the paths into `folder`, for a look at them.
    /// not_found "no_backup".
    base::Status extract(uint64_t id, const std::set<std::string>& paths,
                         const std::filesystem::path& folder) const;

    /// Drops all but the newest `n` >= 1, and says how many went. Not where a list is damaged: what
    /// it needs is not known.
    base::Result<size_t> keep_newest(size_t n);

  private:
    struct Impl;
    explicit BackupFolder(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::storage
