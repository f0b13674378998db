#pragma once

#include <string>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/storage/backup.hpp"

namespace rampart::storage {

/// The list of a backup: what is in it, and where.
struct BackupList {
    struct Entry {
        BackupItem item;
        uint64_t bytes = 0;
        uint32_t engine_id = 0;  // a database's backup id in RocksDB
        unsigned mode = 0;       // mode of a file
        base::Digest digest;     // digest of a file
        bool operator==(const Entry&) const = default;
    };
    uint64_t id = 0;
    base::TimePoint created;
    std::vector<Entry> entries;

    BackupInfo info() const;
    bool operator==(const BackupList&) const = default;
};

/// invalid_argument "bad_backup_item".
base::Status check_item(const BackupItem& item);

/// Lines of text, the last of them the SHA-256 of the others:
///
///     rampart-backup 1
///     id 3
///     created 1732176000000000
///     database 5 123456 partitions/0/joins      (RocksDB's number, bytes, path)
///     file 644 1234 SHA-256 registry/audit.head (mode, bytes, …)
///     secret 600 32 SHA-256 keys/draw
///     end SHA-256
std::string encode(const BackupList& list);
/// data_loss "backup_damaged" for anything that encode does not write.
base::Result<BackupList> decode_backup_list(std::string_view text);

}  // namespace rampart::storage
