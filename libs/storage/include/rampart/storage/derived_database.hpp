#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::storage {

/// Whether a folder of this name is a database that was set aside: "NAME.damaged-N".
bool is_set_aside(const std::filesystem::path& folder);

/// The databases below the folder that were set aside, as paths relative to it, in order.
base::Result<std::vector<std::string>> find_set_aside(const std::filesystem::path& root);

/// The file beside a database that says that it holds what the log does not have.
std::filesystem::path beyond_log_mark(const std::filesystem::path& database);

/// data_loss "state_damaged": a damaged database that cannot be made anew, and what to do.
base::Error state_damaged(const std::filesystem::path& database, std::string_view why);

/// The content of a DerivedDatabase at one moment. Keeps the database that it is of open. Where
/// there was none, what is read of it fails as it did then, whatever is there by now.
class DerivedSnapshot {
  private:
    friend class DerivedDatabase;
    std::shared_ptr<Database> database_;  // null: there was none; destroyed after its snapshot
    std::optional<Snapshot> at_;
    base::Status missing_;  // without a database: why
};

/// A database whose content follows from the log. When a block of it turns out to be damaged, it
/// is set aside under another name, and an empty one takes its place, for its user to fill again.
///
/// Only damage counts (Database::damage()), met when it is opened, by a call or in the background;
/// never a full disk, a limit of files or an error of the device, which say nothing of the content.
///
/// Reads and writes are Database's, with its errors; while there is no database, the damage itself.
/// Any thread may call them, and damage(); the others are called by one thread at a time.
class DerivedDatabase {
  public:
    /// As Database::open; damage is no error here, but in damage().
    static base::Result<std::unique_ptr<DerivedDatabase>> open(const std::filesystem::path& path,
                                                               std::vector<std::string> families,
                                                               OpenOptions options);
    ~DerivedDatabase();

    base::Status write(const WriteBatch& batch, Sync sync);
    base::Result<std::optional<std::string>> get(ColumnFamily family, std::string_view key,
                                                 const DerivedSnapshot* at = nullptr) const;
    base::Status scan(ColumnFamily family, const KeyRange& range, const Database::Visitor& visit,
                      const DerivedSnapshot* at = nullptr) const;
    base::Status scan_back(ColumnFamily family, const KeyRange& range,
                           const Database::Visitor& visit, const DerivedSnapshot& at) const;
    DerivedSnapshot snapshot() const;
    base::Status compact(std::span<const FamilyRange> parts);
    base::Status compact_erased(ColumnFamily family);
    const std::filesystem::path& path() const { return path_; }

    /// ok, or why the database has to be set aside, or could not be replaced yet.
    base::Status damage() const;

    /// Sets a damaged database aside, opens an empty one in its place and has `begin` write what
    /// every new one has; true: that was done, and what is remembered of the old content is void.
    /// `allowed` is asked first: whether the log still has all that the content follows from.
    ///
    /// Errors leave the user without a database; call it again. unavailable "in_use": a
    /// snapshot or a read of the old one is open. data_loss "state_damaged", permanent: the mark
    /// of mark_beyond_log() is there, the database was replaced once since it was opened, or
    /// kMaxSetAside lie beside it. Those of `allowed`, `begin` and Database::open; io_error,
    /// no_access: it could not be renamed. A crash at any moment leaves the old database, none, or
    /// a new one.
    base::Result<bool> renew(const std::function<base::Status()>& allowed,
                             const std::function<base::Status(Database&)>& begin);
    static constexpr size_t kMaxSetAside = 8;

    /// From now on it holds what the log does not have, so that it cannot be made anew. Durable.
    base::Status mark_beyond_log();

    /// Whether an earlier one lies beside it, set aside.
    bool has_set_aside() const;
    /// How many were set aside since open().
    uint64_t set_aside() const { return set_aside_; }

  private:
    DerivedDatabase(std::filesystem::path path, std::vector<std::string> families,
                    OpenOptions options);
    base::Result<std::shared_ptr<Database>> current() const;
    base::Result<std::shared_ptr<Database>> open_database();
    base::Status check_replaceable() const;
    base::Status close();
    base::Status move_away();

    const std::filesystem::path path_;
    const std::vector<std::string> families_;
    const OpenOptions options_;
    std::atomic<uint64_t> set_aside_{0};
    bool moved_ = false;                         // the damaged one is away, none is there yet
    std::shared_ptr<std::atomic<bool>> closed_;  // whether the last one that was opened is

    mutable std::mutex mutex_;
    std::shared_ptr<Database> database_;  // null: there is none
    base::Status damage_;                 // met when it was opened, or that of the one that is gone
};

}  // namespace rampart::storage
