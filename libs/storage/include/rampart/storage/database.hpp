#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/storage/memory_budget.hpp"
#include "rampart/storage/schema_version.hpp"
#include "rampart/storage/write_batch.hpp"

namespace rocksdb {
class Env;
}

namespace rampart::storage {

/// When a write is safe. The write-ahead log is always on, so both survive the death of the
/// process.
enum class Sync {
    kAlways,  // on the disk before write() returns: survives the machine
    kNever,   // in the operating system's cache: survives the process
};

/// What open() makes of the tail of a write-ahead log that does not fit together. After the death
/// of the process alone it always does; a power cut takes any part of what was not synced.
enum class Recovery {
    /// For databases all of whose writes are Sync::kAlways: a torn last write is dropped, any other
    /// damage is data_loss "corrupt".
    kStrict,
    /// For databases that write Sync::kNever and can be made again from elsewhere: goes back to a
    /// moment before the damage, with all that was written until then and nothing of what came
    /// later.
    kPointInTime,
};

struct OpenOptions {
    bool create = true;      // false: not_found when there is no database at the path
    bool read_only = false;  // for looking at a database that another process holds open
    Recovery recovery = Recovery::kStrict;
    Schema schema{};                   // the version that is wanted, and the ways to it
    size_t memtable_bytes = 8u << 20;  // per column family, before it is flushed
    /// Shared by the databases of a process, and bounds them together; null: a block cache of
    /// `cache_bytes` of its own, and write buffers bounded by `memtable_bytes` alone.
    std::shared_ptr<MemoryBudget> budget{};
    size_t cache_bytes = 32u << 20;
    int max_open_files = 256;  // 16 or more; those that were not read for longest are closed
    uint64_t min_free_bytes =
        64u << 20;  // free bytes of the file system that writes must leave: others are refused
    /// It can be made anew from elsewhere, and its user does so (DerivedDatabase): damage() is the
    /// user's matter, and none of all_writable()'s.
    bool derived = false;
    /// File system and clock: for tests that take them away. Null: the machine's.
    std::shared_ptr<rocksdb::Env> environment{};
};

/// Keys in [begin, end); an empty `end` means up to the last key.
struct KeyRange {
    std::string begin, end;
    static KeyRange all() { return {}; }
    /// All keys that start with `prefix`.
    static KeyRange with_prefix(std::string_view prefix);
};

/// A range of a column family.
struct FamilyRange {
    ColumnFamily family;
    KeyRange range = KeyRange::all();
};

/// The content at one moment. Holds files back from deletion: keep it short. Must not outlive its
/// Database.
class Snapshot {
  public:
    Snapshot(Snapshot&&) noexcept;
    Snapshot& operator=(Snapshot&&) noexcept;
    ~Snapshot();

  private:
    friend class Database;
    struct Impl;
    explicit Snapshot(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// An ordered key-value store in a folder, held by one process at a time (RocksDB).
///
/// Changes go through WriteBatch only, and are all there or none after any crash. A torn last write
/// is dropped on open; content that fails its checksum is data_loss, never silence. Thread safe.
///
/// Errors (each names the path): data_loss "corrupt"; resource_exhausted "disk_full": nothing was
/// written, make room and try again (if the file system gave no warning, such as under a quota, the
/// database has to be opened anew first: all_writable() says so); permission_denied "no_access";
/// unavailable "io_error".
class Database {
  public:
    /// Opens or creates. `families` are the column families by name, "default" among them or not;
    /// their order is what ColumnFamily counts ("format" is taken). An older database is brought to
    /// options.schema first. Further errors: failed_precondition "database_in_use" (another process
    /// holds it), "newer_version" (made by a later release), "older_version" (too old for the
    /// migrations that are given, or open for reading only), "unknown_column_family" (the folder
    /// has one that is not listed: another room's); not_found "no_database"; invalid_argument
    /// "bad_column_families", "bad_migrations"; a migration's own.
    static base::Result<std::unique_ptr<Database>> open(const std::filesystem::path& path,
                                                        std::vector<std::string> families,
                                                        const OpenOptions& options = {});
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    base::Status write(const WriteBatch& batch, Sync sync);

    /// nullopt: no such key.
    base::Result<std::optional<std::string>> get(ColumnFamily family, std::string_view key,
                                                 const Snapshot* at = nullptr) const;

    /// Called with each pair, valid during the call only; false ends the scan, an error is passed
    /// on.
    using Visitor = std::function<base::Result<bool>(std::string_view key, std::string_view value)>;
    /// Visits the range in key order, as it was when the scan began (or at the snapshot).
    base::Status scan(ColumnFamily family, const KeyRange& range, const Visitor& visit,
                      const Snapshot* at = nullptr) const;

    /// Visits the range from its last key to its first; else as scan().
    base::Status scan_back(ColumnFamily family, const KeyRange& range, const Visitor& visit,
                           const Snapshot* at = nullptr) const;

    /// The pair with the greatest key of the range; nullopt: the range is empty.
    base::Result<std::optional<std::pair<std::string, std::string>>> last(
        ColumnFamily family, const KeyRange& range, const Snapshot* at = nullptr) const;

    Snapshot snapshot() const;

    /// A copy that can be opened as a database of its own, at `target` on the same file system
    /// (hard links, cheap). already_exists: `target` is there.
    base::Status checkpoint(const std::filesystem::path& target) const;

    /// Rewrites the range down to the last level, so that what was overwritten or erased before the
    /// call is in none of the database's files any more when it returns: not in the tables, nor in
    /// the write-ahead log, nor among the key ranges that the manifest keeps. Writes go on
    /// meanwhile. Takes as long as it takes to read and write the range.
    /// failed_precondition "snapshot_held": a Snapshot from before would keep the old content; try
    /// again when it is gone. A scan under way holds files back until it ends.
    base::Status compact(ColumnFamily family, const KeyRange& range = KeyRange::all());
    /// The same for several ranges, for little more than the price of one where they are short.
    base::Status compact(std::span<const FamilyRange> parts);
    /// The same for a whole family if anything was erased from it since this was called last, by
    /// this process or an earlier one; else does nothing.
    base::Status compact_erased(ColumnFamily family);

    /// Bytes that the range takes up in files and memory, roughly.
    base::Result<uint64_t> approximate_bytes(ColumnFamily family, const KeyRange& range) const;

    /// ok, or the first data_loss "corrupt" that was met since it was opened: by a call, or by
    /// RocksDB's own work in the background. Thread safe.
    base::Status damage() const;

    const std::filesystem::path& path() const;

    struct Impl;  // for this library alone

  private:
    explicit Database(std::unique_ptr<Impl> impl);
    base::Status migrate(const Schema& schema, bool read_only);
    base::Status run(const Migration& migration);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::storage
