#include "store_contents.hpp"

#include <algorithm>

#include "rampart/storage/folder.hpp"
#include "rampart/storage/inspection.hpp"

namespace rampart::cli {
namespace {

namespace fs = std::filesystem;
using Kind = storage::BackupItem::Kind;

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

/// Of this run of a service, or on its way to another name.
bool is_transient(const std::string& path) {
    return path == "endpoint" || path.find(".tmp.") != std::string::npos;
}

bool is_secret(const std::string& path, fs::perms mode) {
    return path.starts_with("keys/") ||
           (mode & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none;
}

}  // namespace

base::Result<StoreContents> contents_of(const fs::path& store, bool with_secrets) {
    RAMPART_TRY(auto databases, storage::find_databases(store));
    if (databases.empty() || databases.front() == ".") {
        return base::not_found("no_store", "there is no store at '{}'", store.string());
    }
    std::stable_sort(databases.begin(), databases.end(),
                     [](const auto& a, const auto& b) { return rank(a) < rank(b); });
    std::vector<storage::BackupItem> files, secrets;
    std::error_code failure;
    for (auto it = fs::recursive_directory_iterator(store, failure);
         !failure && it != fs::recursive_directory_iterator(); it.increment(failure)) {
        std::error_code ignored;
        const bool folder = it->is_directory(ignored);
        const bool hidden = it->path().filename().native().starts_with('.');
        if (folder && (hidden || storage::is_database(it->path()))) it.disable_recursion_pending();
        const auto path = it->path().lexically_relative(store).generic_string();
        if (folder || hidden || !it->is_regular_file(ignored) || is_transient(path)) continue;
        const bool secret = is_secret(path, it->status(ignored).permissions());
        (secret ? secrets : files).push_back({secret ? Kind::kSecret : Kind::kFile, path});
    }
    if (failure) {
        return base::unavailable("io_error", "cannot list '{}': {}", store.string(),
                                 failure.message());
    }
    StoreContents contents;
    const auto add = [&](std::vector<storage::BackupItem>& items) {
        std::sort(items.begin(), items.end(),
                  [](const auto& a, const auto& b) { return a.path < b.path; });
        contents.items.insert(contents.items.end(), items.begin(), items.end());
    };
    const auto head = std::find_if(files.begin(), files.end(), [](const auto& item) {
        return item.path == "registry/audit.head";
    });
    if (head != files.end()) {
        contents.items.push_back(*head);
        files.erase(head);
    }
    for (const auto& database : databases) contents.items.push_back({Kind::kDatabase, database});
    add(files);  // models, certificates, evidence: written before the registry names them
    if (with_secrets) {
        add(secrets);
    } else {
        for (const auto& secret : secrets) contents.secrets.push_back(secret.path);
        std::sort(contents.secrets.begin(), contents.secrets.end());
    }
    return contents;
}

}  // namespace rampart::cli
