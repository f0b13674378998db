#include "rampart/storage/inspection.hpp"

#include <algorithm>

#include "errors.hpp"
#include "files.hpp"
#include "rampart/storage/derived_database.hpp"
#include "rampart/storage/folder.hpp"
#include "rampart/storage/reasons.hpp"
#include "schema.hpp"
#include "whole_database.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::Result;

constexpr int kAttempts = 10;

Result<DatabaseReport> look(const fs::path& path) {
    RAMPART_TRY(auto whole, WholeDatabase::open(path, WholeDatabase::Mode::kRead));
    auto& db = whole.db();
    DatabaseReport report{.version = 1, .families = {}, .keys = 0, .files = 0, .bytes = 0};
    for (auto* family : whole.families()) {
        if (family->GetName() == kFormatFamily) {
            RAMPART_TRY(const auto stored, stored_version(db, family, path));
            report.version = stored.value_or(1);
            continue;
        }
        report.families.push_back(family->GetName());
        uint64_t keys = 0;
        if (db.GetIntProperty(family, rocksdb::DB::Properties::kEstimateNumKeys, &keys)) {
            report.keys += keys;
        }
    }
    std::sort(report.families.begin(), report.families.end());
    std::vector<rocksdb::LiveFileMetaData> files;
    db.GetLiveFilesMetaData(&files);
    report.files = files.size();
    for (const auto& file : files) report.bytes += file.size;
    rocksdb::ReadOptions options;
    options.verify_checksums = true;
    options.fill_cache = false;
    options.readahead_size = 2u << 20;
    const auto status = db.VerifyChecksum(options);
    if (!status.ok()) return map_error(status, path, "verify");
    return report;
}

void find_in(const fs::path& folder, const fs::path& relative, std::vector<std::string>& found,
             std::error_code& error) {
    if (is_database(folder)) {
        found.push_back(relative.empty() ? "." : relative.generic_string());
        return;
    }
    for (auto it = fs::directory_iterator(folder, error); !error && it != fs::directory_iterator();
         it.increment(error)) {
        const auto name = it->path().filename();
        std::error_code ignored;
        if (name.native().starts_with('.') || it->is_symlink(ignored)) continue;
        if (is_set_aside(name)) continue;
        if (!it->is_directory(ignored)) continue;
        find_in(it->path(), relative / name, found, error);
        if (error) return;
    }
}

}  // namespace

Result<std::vector<std::string>> find_databases(const fs::path& root) {
    std::error_code error;
    if (!fs::is_directory(root, error)) {
        return base::make_error(Reason::kNoFolder, "there is no folder '{}'", root.string());
    }
    std::vector<std::string> found;
    find_in(root, {}, found, error);
    if (error) return file_error(error.value(), root, "list");
    std::sort(found.begin(), found.end());
    return found;
}

/// Again where a file went between the moment that we heard of it and that we opened it.
Result<DatabaseReport> verify(const fs::path& database) {
    auto report = look(database);
    for (int i = 1; i < kAttempts && !report; ++i) {
        if (report.error().message.find("No such file") == std::string::npos) break;
        report = look(database);
    }
    return report;
}

}  // namespace rampart::storage
