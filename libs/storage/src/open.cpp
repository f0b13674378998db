#include <rocksdb/db.h>

#include <algorithm>
#include <set>

#include "database_impl.hpp"
#include "encrypted_files.hpp"
#include "errors.hpp"
#include "log_tail.hpp"
#include "memory_budget_impl.hpp"
#include "options.hpp"
#include "ordered_logs.hpp"
#include "rampart/base/log.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/storage/database.hpp"
#include "rampart/storage/reasons.hpp"
#include "rocksdb_log.hpp"
#include "schema.hpp"
#include "stop_listener.hpp"

namespace rampart::storage {
namespace {

using base::Result;
using base::Status;
using Names = std::vector<std::string>;

constexpr base::Logger kLog("storage");
constexpr int kReaderAttempts = 10;

bool contains(const Names& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Status check_families(const Names& families) {
    std::set<std::string_view> seen;
    for (const auto& name : families) {
        if (!name.empty() && name != kFormatFamily && seen.insert(name).second) continue;
        return base::make_error(Reason::kBadColumnFamilies,
                                "column family '{}' is empty, given twice or reserved", name);
    }
    return base::ok();
}

/// The version of a database whose families are not the ones that are wanted.
Result<uint32_t> peek_version(const rocksdb::Options& options, const std::filesystem::path& path,
                              const Names& existing) {
    if (!contains(existing, kFormatFamily)) return uint32_t{1};
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const char* name : {rocksdb::kDefaultColumnFamilyName.c_str(), kFormatFamily}) {
        descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions(options));
    }
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* raw = nullptr;
    const auto status =
        rocksdb::DB::OpenForReadOnly(options, path.string(), descriptors, &handles, &raw);
    if (!status.ok()) return map_error(status, path, "open");
    const std::unique_ptr<rocksdb::DB> db(raw);
    const auto version = stored_version(*db, handles[1], path);
    for (auto* handle : handles) db->DestroyColumnFamilyHandle(handle);
    RAMPART_TRY(const auto stored, version);
    return stored.value_or(1);
}

/// Everything that the folder has must be known: data of another version is not opened half. A
/// reader takes the folder as it is; what it lacks is taken out of `families` if it may be.
Status fit_families(const rocksdb::Options& options, const std::filesystem::path& path,
                    const OpenOptions& wanted, Names& families) {
    Names existing;
    const auto status = rocksdb::DB::ListColumnFamilies(options, path.string(), &existing);
    if (!status.ok()) return map_error(status, path, "open");
    const auto unknown = std::find_if(existing.begin(), existing.end(),
                                      [&](const auto& name) { return !contains(families, name); });
    const auto missing = std::find_if(families.begin(), families.end(), [&](const auto& name) {
        return name != kFormatFamily && !contains(existing, name);
    });
    const bool lacks = wanted.read_only && missing != families.end();
    if (unknown != existing.end() || lacks) {
        RAMPART_TRY(const uint32_t version, peek_version(options, path, existing));
        RAMPART_RETURN_IF_ERROR(
            check_version(version, version, wanted.schema, wanted.read_only, path));
    }
    if (unknown != existing.end()) {
        return base::make_error(Reason::kUnknownColumnFamily,
                                "cannot open database '{}': its column family '{}' is not "
                                "known here; another part of the product made it",
                                path.string(), *unknown);
    }
    if (lacks) {
        return base::make_error(Reason::kMissingColumnFamily,
                                "cannot open database '{}' for reading: it has no column "
                                "family '{}' yet; let the service open it once",
                                path.string(), *missing);
    }
    if (wanted.read_only && !contains(existing, kFormatFamily)) {
        std::erase(families, kFormatFamily);
    }
    return base::ok();
}

Status open_folder(const rocksdb::Options& options, const OpenOptions& wanted, Names families,
                   bool exists, Database::Impl& impl) {
    if (exists) RAMPART_RETURN_IF_ERROR(fit_families(options, impl.path, wanted, families));
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    for (const auto& name : families) {
        descriptors.emplace_back(name, rocksdb::ColumnFamilyOptions(options));
    }
    rocksdb::DB* db = nullptr;
    const auto& path = impl.path;
    const auto status =
        wanted.read_only
            ? rocksdb::DB::OpenForReadOnly(options, path.string(), descriptors, &impl.handles, &db)
            : rocksdb::DB::Open(options, path.string(), descriptors, &impl.handles, &db);
    if (!status.ok()) return map_error(status, path, "open");
    impl.db.reset(db);
    const auto format = std::find(families.begin(), families.end(), kFormatFamily);
    if (format != families.end()) impl.format = impl.handles[format - families.begin()];
    const std::vector known(impl.handles.begin(),
                            impl.handles.begin() + static_cast<ptrdiff_t>(impl.families));
    const auto loaded = impl.erased.load(*db, impl.format, known);
    if (loaded.ok()) return base::ok();
    for (auto* handle : impl.handles) db->DestroyColumnFamilyHandle(handle);
    impl.handles.clear();
    impl.db.reset();
    return map_error(loaded, path, "read");
}

/// Returns data_loss unless the logs that are needed are whole up to a torn last write, and what
/// `options` recover of them reaches the last one that is whole. Returns whether there is a torn
/// one. Leaves the database as it is.
Result<bool> check_torn(rocksdb::Options options, const OpenOptions& wanted, const Names& families,
                        const Database::Impl& to_open) {
    options.max_open_files = -1;
    OpenOptions reading = wanted;
    reading.read_only = true;
    Database::Impl impl;
    impl.path = to_open.path;
    impl.families = to_open.families;
    RAMPART_RETURN_IF_ERROR(open_folder(options, reading, families, true, impl));
    uint64_t needed = 0;
    impl.db->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &needed);
    RAMPART_TRY(const auto logs, look_at_logs(impl.path, *options.env, needed));
    const uint64_t reached = impl.db->GetLatestSequenceNumber();
    if (!logs.lost && reached >= logs.last) return !logs.whole;
    const auto lost = fmt::format("writes {} to {} of its write-ahead log are, or follow, damage",
                                  logs.lost.value_or(reached + 1), logs.last);
    return map_error(rocksdb::Status::Corruption(lost), to_open.path, "open");
}

/// Opens the folder after a look at its logs. Of one all of whose writes are synced, the last
/// write alone may be torn: it was not yet acknowledged.
Status open_with_logs(rocksdb::Options options, const OpenOptions& wanted, const Names& families,
                      bool exists, Database::Impl& impl) {
    if (exists && wanted.recovery == Recovery::kStrict) {
        RAMPART_TRY(const auto logs, look_at_logs(impl.path, *options.env));
        if (!logs.whole) {
            options.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
            RAMPART_TRY(const bool torn, check_torn(options, wanted, families, impl));
            if (torn && !wanted.read_only)
                kLog.warning("msg=\"dropped a torn last write\" database={}", impl.path.string());
        }
    }
    return open_folder(options, wanted, families, exists, impl);
}

/// A writer may delete files between the moment that a reader hears of them and that it opens them.
bool lost_a_race(const OpenOptions& options, const Status& status) {
    return options.read_only && !status && status.error().code != base::ErrorCode::kNotFound &&
           status.error().message.find("No such file") != std::string::npos;
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& path,
                                                 std::vector<std::string> families,
                                                 const OpenOptions& wanted) {
    RAMPART_RETURN_IF_ERROR(check_families(families));
    RAMPART_RETURN_IF_ERROR(check_migrations(wanted.schema));
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    RAMPART_TRY(auto files, environment_of(path, wanted.read_only ? Access::kRead : Access::kWrite,
                                           wanted.environment));
    impl->environment = with_ordered_logs(std::move(files));
    impl->min_free_bytes = wanted.min_free_bytes;
    impl->derived = wanted.derived;
    impl->families = families.size();
    if (!contains(families, rocksdb::kDefaultColumnFamilyName)) {
        families.push_back(rocksdb::kDefaultColumnFamilyName);  // RocksDB insists on it
    }
    families.emplace_back(kFormatFamily);

    rocksdb::Options options = database_options(wanted);
    options.env = impl->environment.get();
    options.listeners.push_back(stop_listener(path, impl->damage, wanted.derived));
    options.info_log = rocksdb_log(path);
    std::error_code error;
    const bool exists = std::filesystem::exists(path / "CURRENT", error);
    if (error) {
        return base::make_error(base::Reason::kNoAccess, "cannot open database '{}': {}",
                                path.string(), error.message());
    }
    if (!exists && !options.create_if_missing) {
        return base::make_error(Reason::kNoDatabase, "there is no database at '{}'", path.string());
    }
    if (!exists) std::filesystem::create_directories(path, error);  // opening says what failed
    Status opened = open_with_logs(options, wanted, families, exists, *impl);
    for (int i = 1; i < kReaderAttempts && lost_a_race(wanted, opened); ++i) {
        opened = open_with_logs(options, wanted, families, exists, *impl);
    }
    if (!opened) return opened.error();
    if (wanted.budget) {
        impl->budget = wanted.budget;
        impl->budget->impl().join(impl->db.get(), &impl->handles);
    }
    std::unique_ptr<Database> database(new Database(std::move(impl)));
    RAMPART_RETURN_IF_ERROR(database->migrate(wanted.schema, wanted.read_only));
    if (!wanted.read_only) note_open(*database->impl_);
    return database;
}

}  // namespace rampart::storage
