#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/storage/write_batch.hpp"

namespace rampart::storage {

/// When a write is safe. The write-ahead log is always on, so both survive the death of the
/// process.
enum class Sync {
    kAlways,  // on the disk before write() returns: survives the machine
    kNever,   // in the operating system's cache: survives the process
};

struct OpenOptions {
    bool create = true;                // false: not_found when there is no database at the path
    bool read_only = false;            // for looking at a database that another process holds open
    size_t memtable_bytes = 8u << 20;  // per column family, before it is flushed
    size_t cache_bytes = 32u << 20;    // block cache of the database
    uint64_t min_free_bytes =
        64u << 20;  // of the file system: a write that would eat into it is refused
};

/// Keys in [begin, end); an empty `end` means up to the last key.
struct KeyRange {
    std::string begin, end;
    static KeyRange all() { return {}; }
    /// All keys that start with `prefix`.
    static KeyRange with_prefix(std::string_view prefix);
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
/// database has to be opened anew first); permission_denied "no_access"; unavailable "io_error".
class Database {
  public:
    /// Opens or creates. `families` are the column families by name, "default" among them or not;
    /// their order is what ColumnFamily counts. Further errors: failed_precondition
    /// "database_in_use" (another process holds it), "unknown_column_family" (the folder has one
    /// that is not listed: made by another version or room); not_found "no_database";
    /// invalid_argument "bad_column_families".
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

    /// The pair with the greatest key of the range; nullopt: the range is empty.
    base::Result<std::optional<std::pair<std::string, std::string>>> last(
        ColumnFamily family, const KeyRange& range, const Snapshot* at = nullptr) const;

    Snapshot snapshot() const;

    /// A copy that can be opened as a database of its own, at `target` on the same file system
    /// (hard links, cheap). already_exists: `target` is there.
    base::Status checkpoint(const std::filesystem::path& target) const;

    /// Bytes that the range takes up in files and memory, roughly.
    base::Result<uint64_t> approximate_bytes(ColumnFamily family, const KeyRange& range) const;

    const std::filesystem::path& path() const;

  private:
    struct Impl;
    explicit Database(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::storage
