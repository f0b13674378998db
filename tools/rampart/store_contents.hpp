#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rampart/storage/backup.hpp"

namespace rampart::cli {

/// What a store consists of, in the order in which a backup may take it from under a node that is
/// at work: what was derived from something else stands before it, so that nothing in the backup
/// knows of what the backup does not have. (The trainer's runs before the registry that they
/// change, the head of the audit log before the log, joined state and indices before the log of
/// records, and that before the keys that it is sealed with.)
struct StoreContents {
    std::vector<storage::BackupItem> items;
    std::vector<std::string> secrets;  // left out: files that only their owner may read
};

/// not_found "no_store": the folder holds no database.
base::Result<StoreContents> contents_of(const std::filesystem::path& store, bool with_secrets);

}  // namespace rampart::cli
