#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rampart/storage/backup.hpp"

/// What a store consists of, in the order in which a backup may take it from under a node that is
/// at work: what was derived from something else stands before it, so that nothing in the backup
/// knows of what the backup does not have. First the head of the audit log and the databases (the
/// trainer's runs before the registry that they change, joined state and indices before the log of
/// records, and that before the keys that it is sealed with), then the files that the registry
/// names, which are written before it names them.
namespace rampart::cli {

/// The head of the audit log, and the databases. not_found "no_store": the folder holds no
/// database.
base::Result<std::vector<storage::BackupItem>> databases_in(const std::filesystem::path& store);

struct StoreFiles {
    std::vector<storage::BackupItem> items;
    std::vector<std::string> secrets;  // left out
};
/// All other files, as they are when this is called: models, certificates, evidence, the gate's
/// public key; with_secrets: those that rampartd::is_secret() names, too.
base::Result<StoreFiles> files_in(const std::filesystem::path& store, bool with_secrets);

}  // namespace rampart::cli
