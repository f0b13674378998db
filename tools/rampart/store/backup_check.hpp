#pragma once

#include <string>
#include <vector>

#include "rampart/storage/backup.hpp"

namespace rampart::cli {

/// What the registry and the audit log in a backup name and the backup does not have as it should
/// be, a line each: models, certificates, evidence. Empty: nothing, or the store has no registry.
/// Errors: BackupFolder's, and those of opening the registry (data_loss: it is damaged).
base::Result<std::vector<std::string>> missing_from(const storage::BackupFolder& backups,
                                                    uint64_t id);

/// Says how many they are, and names the first; `missing` is not empty.
std::string describe_missing(const std::vector<std::string>& missing);

}  // namespace rampart::cli
