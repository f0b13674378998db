#include "rampart/storage/live_copy.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>

#include "files.hpp"
#include "rampart/base/file.hpp"
#include "rampart/storage/reasons.hpp"
#include "whole_database.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::Result;
using base::Status;

constexpr int kAttempts = 50;
constexpr size_t kMaxCurrentBytes = 256;

/// Which manifest holds, and how long it is.
struct Mark {
    std::string current, manifest;
    uint64_t bytes = 0;
    bool operator==(const Mark&) const = default;
};

/// nullopt: it changed while we looked.
Result<std::optional<Mark>> mark_of(const fs::path& database) {
    auto current = base::read_file(database / "CURRENT", kMaxCurrentBytes);
    if (!current && current.error().code == base::ErrorCode::kNotFound) {
        return base::make_error(Reason::kNoDatabase, "there is no database at '{}'",
                                database.string());
    }
    if (!current) return current.error();
    Mark mark{*current, *current, 0};
    while (!mark.manifest.empty() && mark.manifest.back() == '\n') mark.manifest.pop_back();
    if (!mark.manifest.starts_with("MANIFEST-") || mark.manifest.find('/') != std::string::npos) {
        return base::make_error(Reason::kCorrupt, "'{}' names no manifest; restore the database",
                                (database / "CURRENT").string());
    }
    std::error_code error;
    mark.bytes = fs::file_size(database / mark.manifest, error);
    if (error) return std::optional<Mark>();
    return std::optional(std::move(mark));
}

struct Listing {
    std::vector<fs::path> tables, logs;  // logs: the older first
};

Result<Listing> list(const fs::path& database) {
    Listing listing;
    std::error_code error;
    for (auto it = fs::directory_iterator(database, error);
         !error && it != fs::directory_iterator(); it.increment(error)) {
        const auto extension = it->path().extension();
        if (extension == ".sst") listing.tables.push_back(it->path());
        if (extension == ".log") listing.logs.push_back(it->path());
    }
    if (error) return file_error(error.value(), database, "list");
    // Numbers of equal length, but for the billionth.
    std::sort(listing.logs.begin(), listing.logs.end(), [](const auto& a, const auto& b) {
        return std::pair(a.native().size(), a) < std::pair(b.native().size(), b);
    });
    return listing;
}

/// False: a file is gone, the writer was faster.
Result<bool> take(const fs::path& from, const fs::path& to, uint64_t limit = UINT64_MAX) {
    const auto copied = copy_file(from, to, {.limit = limit, .sync = false});
    if (copied) return true;
    if (copied.error().code == base::ErrorCode::kNotFound) return false;
    return copied.error();
}

/// False: the database changed meanwhile.
Result<bool> attempt(const fs::path& database, const fs::path& target) {
    RAMPART_RETURN_IF_ERROR(remove_tree(target));
    RAMPART_RETURN_IF_ERROR(make_folder(target, 0700));
    RAMPART_TRY(const auto before, mark_of(database));
    if (!before) return false;
    // All logs are listed before the first is copied. A log is whole once there is a newer one, so
    // what is copied has no hole: all of the older ones, and of the last the beginning.
    RAMPART_TRY(const auto listing, list(database));
    for (const auto& table : listing.tables) {
        const auto link = target / table.filename();
        if (::link(table.c_str(), link.c_str()) == 0 || errno == ENOENT) continue;
        return file_error(errno, table, "link");
    }
    for (const auto& log : listing.logs) {
        RAMPART_TRY(const bool there, take(log, target / log.filename()));
        if (!there) return false;
    }
    RAMPART_TRY(const bool there,
                take(database / before->manifest, target / before->manifest, before->bytes));
    if (!there) return false;
    RAMPART_RETURN_IF_ERROR(take(database / "IDENTITY", target / "IDENTITY").map([](bool) {}));
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(target / "CURRENT", before->current));
    RAMPART_TRY(const auto after, mark_of(database));
    return after == before;
}

/// Tables that were only being made, or are obsolete: a database that is opened at `copy` would
/// take their numbers again, and write into what is a link to the other's file.
Status remove_other_tables(const fs::path& copy) {
    std::vector<rocksdb::LiveFileMetaData> live;
    {
        RAMPART_TRY(auto whole, WholeDatabase::open(copy, WholeDatabase::Mode::kRead));
        whole.db().GetLiveFilesMetaData(&live);
    }
    std::set<std::string> names;
    for (const auto& file : live) names.insert(fs::path(file.name).filename());
    RAMPART_TRY(const auto listing, list(copy));
    for (const auto& table : listing.tables) {
        if (!names.contains(table.filename())) RAMPART_RETURN_IF_ERROR(remove_tree(table));
    }
    return base::ok();
}

}  // namespace

Status copy_live(const fs::path& database, const fs::path& target) {
    std::error_code error;
    if (fs::exists(target, error)) {
        return base::make_error(Reason::kCopyExists, "cannot copy to '{}': it is there already",
                                target.string());
    }
    for (int i = 0; i < kAttempts; ++i) {
        auto whole = attempt(database, target);
        if (whole && !*whole) continue;
        Status result = whole ? remove_other_tables(target) : Status(whole.error());
        if (!result) RAMPART_RETURN_IF_ERROR(remove_tree(target));
        return result;
    }
    RAMPART_RETURN_IF_ERROR(remove_tree(target));
    return base::make_error(Reason::kDatabaseTooBusy,
                            "database '{}' changed while it was copied, {} times in a row; try "
                            "again when less is written",
                            database.string(), kAttempts);
}

}  // namespace rampart::storage
