#include <algorithm>

#include "frame/reasons.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/runtime/job_record.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/storage/inspection.hpp"
#include "services/rampartd/store_layout.hpp"
#include "store/store_checks.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
using Kind = storage::BackupItem::Kind;

constexpr const char* kAuditHead = "registry/audit.head";

/// Taken earlier: smaller.
int rank(const std::string& database) {
    if (database == "trainer") return 0;
    if (database.starts_with("registry/")) return 2;
    if (database == "protected") return 3;
    if (database == "log") return 4;
    if (database == "privacy/keys") return 5;      // no envelope without its key
    if (database == "privacy/register") return 6;  // no destroyed key without the erasure under way
    return 1;
}

const std::string kJobs = "jobs/";

/// Whether the file belongs to this service (its address), is one that jobs_in() takes, or is on
/// its way to another name.
bool is_left_out(const std::string& path) {
    return path == "endpoint" || path.starts_with(kJobs) || path.find(".tmp.") != std::string::npos;
}

}  // namespace

base::Result<std::vector<storage::BackupItem>> databases_in(const fs::path& store) {
    RAMPART_TRY(auto databases, storage::find_databases(store));
    if (databases.empty() || databases.front() == ".") {
        return base::make_error(Reason::kNoStore, "there is no store at '{}'", store.string());
    }
    std::stable_sort(databases.begin(), databases.end(),
                     [](const auto& a, const auto& b) { return rank(a) < rank(b); });
    std::vector<storage::BackupItem> items;
    std::error_code error;
    if (fs::is_regular_file(store / kAuditHead, error)) items.push_back({Kind::kFile, kAuditHead});
    for (const auto& database : databases) items.push_back({Kind::kDatabase, database});
    return items;
}

base::Result<StoreJobs> jobs_in(const fs::path& store) {
    RAMPART_TRY(const auto at_rest, runtime::read_jobs(store / kJobs));
    StoreJobs found;
    for (auto job : at_rest.records) {
        if (!job.ended()) job.begun = std::max<uint64_t>(job.begun, 1);
        found.items.push_back(
            {Kind::kFile, kJobs + runtime::job_file(job.id), runtime::encode_job(job)});
        if (job.ended()) found.ended.insert(found.items.back().path);
    }
    for (const auto& [id, error] : at_rest.unreadable)
        found.unreadable.push_back(kJobs + runtime::job_file(id));
    return found;
}

base::Result<StoreFiles> files_in(const fs::path& store, bool with_secrets) {
    StoreFiles found;
    std::error_code failure;
    for (auto it = fs::recursive_directory_iterator(store, failure);
         !failure && it != fs::recursive_directory_iterator(); it.increment(failure)) {
        std::error_code ignored;
        const bool folder = it->is_directory(ignored);
        const bool hidden = it->path().filename().native().starts_with('.');
        const bool aside = folder && storage::is_set_aside(it->path());
        if (folder && (hidden || aside || storage::is_database(it->path())))
            it.disable_recursion_pending();
        const auto path = it->path().lexically_relative(store).generic_string();
        if (folder || hidden || !it->is_regular_file(ignored) || is_left_out(path)) continue;
        if (path == kAuditHead) continue;
        const bool secret = rampartd::is_secret(path);
        if (secret && !with_secrets) {
            found.secrets.push_back(path);
        } else {
            found.items.push_back({secret ? Kind::kSecret : Kind::kFile, path});
        }
    }
    if (failure) {
        return base::make_error(base::Reason::kIoError, "cannot list '{}': {}", store.string(),
                                failure.message());
    }
    std::sort(found.items.begin(), found.items.end(),
              [](const auto& a, const auto& b) { return a.path < b.path; });
    std::sort(found.secrets.begin(), found.secrets.end());
    return found;
}

}  // namespace rampart::cli
