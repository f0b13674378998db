#include "schema.hpp"

#include "database_impl.hpp"
#include "errors.hpp"
#include "rampart/base/bytes.hpp"
#include "rampart/base/log.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::storage {
namespace {

using base::Result;
using base::Status;

constexpr base::Logger kLog("storage");
// described in schemas/keys.md
constexpr std::string_view kVersionKey = "version";     // u32
constexpr std::string_view kProgressKey = "migration";  // u32 version, field cursor
constexpr uint32_t kWithoutNumber = 1;                  // made before there were numbers

Result<std::optional<std::string>> read(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* format,
                                        std::string_view key, const std::filesystem::path& path) {
    std::string value;
    const auto status = db.Get({}, format, rocksdb::Slice(key.data(), key.size()), &value);
    if (status.IsNotFound()) return std::optional<std::string>();
    if (!status.ok()) return map_error(status, path, "read");
    return std::optional(std::move(value));
}

std::string encoded(uint32_t version) {
    std::string out;
    base::append_u32(out, version);
    return out;
}

/// How far a migration came.
struct Progress {
    uint32_t to = 0;
    std::string cursor;
};

Result<std::optional<Progress>> stored_progress(rocksdb::DB& db,
                                                rocksdb::ColumnFamilyHandle* format,
                                                const std::filesystem::path& path) {
    RAMPART_TRY(const auto bytes, read(db, format, kProgressKey, path));
    if (!bytes) return std::optional<Progress>();
    base::ByteReader in(*bytes);
    Progress progress;
    RAMPART_TRY(progress.to, in.u32());
    RAMPART_TRY(const auto reached, in.field());
    progress.cursor = std::string(reached);
    return std::optional(std::move(progress));
}

}  // namespace

Status check_migrations(const Schema& schema) {
    if (schema.version == Schema::kAnyVersion && schema.migrations.empty()) return base::ok();
    uint32_t from = schema.version - static_cast<uint32_t>(schema.migrations.size());
    bool good = schema.migrations.size() < schema.version;
    for (const auto& migration : schema.migrations) {
        good = good && migration.to == ++from && migration.step != nullptr;
    }
    if (good) return base::ok();
    return base::make_error(Reason::kBadMigrations,
                            "migrations have to lead step by step up to version {}",
                            schema.version);
}

Result<std::optional<uint32_t>> stored_version(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* format,
                                               const std::filesystem::path& path) {
    RAMPART_TRY(const auto bytes, read(db, format, kVersionKey, path));
    if (!bytes) return std::optional<uint32_t>();
    base::ByteReader in(*bytes);
    RAMPART_TRY(const uint32_t version, in.u32());
    return std::optional(version);
}

Status check_version(uint32_t present, uint32_t whole, const Schema& schema, bool read_only,
                     const std::filesystem::path& path) {
    if (schema.version == Schema::kAnyVersion) return base::ok();
    if (present > schema.version) {
        return base::make_error(
            Reason::kNewerVersion,
            "database '{}' has format version {}, and this release knows versions up to {}; use "
            "the release that wrote it, or restore a backup from before",
            path.string(), present, schema.version);
    }
    if (whole == schema.version) return base::ok();
    const auto known = schema.version - static_cast<uint32_t>(schema.migrations.size());
    const bool can = whole >= known;
    if (can && !read_only) return base::ok();
    return base::make_error(
        Reason::kOlderVersion, "database '{}' has format version {}, not {}; {}", path.string(),
        whole, schema.version,
        can ? "it is open for reading only: let the service open it once, which migrates it"
            : "migrate it with an earlier release first, or make it again");
}

/// Where the database stands, with a number from now on.
Result<uint32_t> Database::Impl::present_version(const Schema& schema) {
    RAMPART_TRY(const auto stored, stored_version(*db, format, path));
    if (stored) return *stored;
    // Nothing was ever written: new, or the process died while it was being made.
    const bool is_new = db->GetLatestSequenceNumber() == 0;
    const uint32_t present = is_new && schema.version > 0 ? schema.version : kWithoutNumber;
    rocksdb::WriteBatch batch;
    const auto status = batch.Put(format, std::string(kVersionKey), encoded(present));
    if (!status.ok()) return map_error(status, path, "write to");
    if (is_new) erased.mark_new(batch);
    RAMPART_RETURN_IF_ERROR(write(batch, Sync::kAlways));
    return present;
}

Status Database::run(const Migration& migration) {
    auto& impl = *impl_;
    std::string cursor;
    RAMPART_TRY(const auto progress, stored_progress(*impl.db, impl.format, impl.path));
    if (progress && progress->to == migration.to) cursor = progress->cursor;
    kLog.info("msg=\"migrating\" database={} to={} what=\"{}\" resumed={}", impl.path.string(),
              migration.to, migration.what, !cursor.empty());
    for (bool more = true; more;) {
        WriteBatch changes;
        RAMPART_TRY(const auto next, migration.step(*this, cursor, changes));
        more = next.has_value();
        if (more && *next == cursor) {
            return base::make_error(Reason::kMigrationStuck,
                                    "no progress past a cursor of {} bytes", cursor.size());
        }
        rocksdb::WriteBatch batch;
        RAMPART_TRY(const auto writing, impl.add(batch, changes));
        std::string reached = encoded(migration.to);
        base::append_field(reached, next.value_or(""));
        auto status = more ? batch.Put(impl.format, std::string(kProgressKey), reached)
                           : batch.Delete(impl.format, std::string(kProgressKey));
        // with the first part: the release before would not go on with what has begun
        if (status.ok())
            status = batch.Put(impl.format, std::string(kVersionKey), encoded(migration.to));
        if (!status.ok()) return map_error(status, impl.path, "write to");
        RAMPART_RETURN_IF_ERROR(impl.write(batch, Sync::kAlways));
        cursor = next.value_or("");
    }
    return base::ok();
}

Status Database::migrate(const Schema& schema, bool read_only) {
    auto& impl = *impl_;
    uint32_t version = kWithoutNumber;
    if (impl.format != nullptr && read_only) {
        RAMPART_TRY(const auto stored, stored_version(*impl.db, impl.format, impl.path));
        version = stored.value_or(kWithoutNumber);
    } else if (impl.format != nullptr) {
        RAMPART_TRY(version, impl.present_version(schema));
    }
    uint32_t whole = version;
    if (impl.format != nullptr) {
        RAMPART_TRY(const auto progress, stored_progress(*impl.db, impl.format, impl.path));
        if (progress && progress->to == version) whole = version - 1;
    }
    RAMPART_RETURN_IF_ERROR(check_version(version, whole, schema, read_only, impl.path));
    for (const auto& migration : schema.migrations) {
        if (migration.to <= whole) continue;
        if (const auto done = run(migration); !done) {
            return done.error().with_context(fmt::format("migrating '{}' to version {} ({})",
                                                         impl.path.string(), migration.to,
                                                         migration.what));
        }
    }
    return base::ok();
}

}  // namespace rampart::storage
