#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "rampart/storage/backup.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::cli {

/// Something that holds in a sound store beyond the checksums of its bytes. A check looks without
/// changing anything, also while a node is at work: for reading only, or at a copy_live.
struct StoreCheck {
    std::string name;
    /// What does not hold, a line each; empty: all does. An error: it could not be looked at. The
    /// other list gets what could not be looked at for reasons that are no fault of the store.
    std::function<base::Result<std::vector<std::string>>(const rampartd::Settings&,
                                                         std::vector<std::string>& notes)>
        run;
};

/// All of them, in the order in which `rampart store check` runs them; a further one is a line
/// here.
std::vector<StoreCheck> store_checks();

/// The format version that this release wants of a database, by the last part of its path; nullopt:
/// it knows no such database.
std::optional<uint32_t> known_version(const std::string& database);

/// The head of the audit log, and the databases. not_found "no_store": the folder holds no
/// database.
base::Result<std::vector<storage::BackupItem>> databases_in(const std::filesystem::path& store);

/// Requests that are jobs, each as it stands now. One that has not ended counts as begun: a store
/// that is made from the backup takes it up as after a crash, and what may be done only once, as
/// the submission of a candidate, ends as interrupted.
struct StoreJobs {
    std::vector<storage::BackupItem> items;
    std::vector<std::string> unreadable;  // left out
    std::set<std::string> ended;          // paths of those items that have
};
base::Result<StoreJobs> jobs_in(const std::filesystem::path& store);

struct StoreFiles {
    std::vector<storage::BackupItem> items;
    std::vector<std::string> secrets;  // left out
};
/// All other files but those of jobs, as they are when this is called: models, certificates,
/// evidence, the gate's public key; with_secrets: those that rampartd::is_secret() names, too.
base::Result<StoreFiles> files_in(const std::filesystem::path& store, bool with_secrets);

}  // namespace rampart::cli
