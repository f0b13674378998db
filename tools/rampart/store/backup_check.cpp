#include "store/backup_check.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "rampart/registry/model_registry.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = "registry/", kDatabase = kFolder + "registry",
                  kHead = kFolder + "audit.head";

/// A folder that goes away with it.
struct Scratch {
    fs::path folder;
    Scratch() : folder(fs::temp_directory_path() / fmt::format("rampart-backup.{}", ::getpid())) {}
    ~Scratch() {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
};

}  // namespace

base::Result<std::vector<std::string>> missing_from(const storage::BackupFolder& backups,
                                                    uint64_t id) {
    RAMPART_TRY(const auto info, backups.info(id));
    std::vector<std::string> missing;
    const bool there = std::any_of(info.items.begin(), info.items.end(),
                                   [](const auto& item) { return item.path == kDatabase; });
    if (!there) return missing;
    const Scratch scratch;
    RAMPART_RETURN_IF_ERROR(backups.extract(id, {kDatabase, kHead}, scratch.folder));
    RAMPART_TRY(const auto registry,
                registry::ModelRegistry::open(scratch.folder / kFolder,
                                              registry::ModelRegistry::Mode::kReadOnly));
    RAMPART_TRY(const auto documents, registry->documents());
    for (const auto& [path, digest] : documents) {
        const auto found = info.digests.find(kFolder + path);
        if (found == info.digests.end()) {
            missing.push_back(kFolder + path);
        } else if (found->second != digest) {
            missing.push_back(kFolder + path + " (with other content)");
        }
    }
    return missing;
}

std::string describe_missing(const std::vector<std::string>& missing) {
    const bool one = missing.size() == 1;
    return fmt::format(
        "the registry or its audit log names {} {} that the backup does not have: {}{}",
        missing.size(), one ? "file" : "files", missing.front(), one ? "" : ", …");
}

}  // namespace rampart::cli
