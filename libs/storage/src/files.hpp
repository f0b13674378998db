#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"

/// What the standard library's file system does not do: copies that are hashed, synced, cut short.
namespace rampart::storage {

/// ENOENT and the like as ours. `action`: "read".
base::Error file_error(int error, const std::filesystem::path& path, std::string_view action);

struct CopyOptions {
    uint64_t limit = UINT64_MAX;  // bytes; the copy ends there
    unsigned mode = 0644;
    bool sync = true;
};
struct Copied {
    base::Digest digest;
    uint64_t bytes = 0;
};
/// Writes `to` anew.
base::Result<Copied> copy_file(const std::filesystem::path& from, const std::filesystem::path& to,
                               const CopyOptions& options);
base::Result<Copied> digest_of(const std::filesystem::path& file);

/// The names in the folder are on the disk when it returns.
base::Status sync_folder(const std::filesystem::path& folder);

/// create_directories and remove_all, with our errors.
base::Status make_folder(const std::filesystem::path& folder, unsigned mode = 0755);
base::Status remove_tree(const std::filesystem::path& path);

/// A lock on a file that ends with this object or the process.
class FileLock {
  public:
    enum class Kind { kShared, kExclusive };
    /// nullopt: another process has it. A shared one of a file that is there needs no right to
    /// write.
    static base::Result<std::optional<FileLock>> acquire(const std::filesystem::path& path,
                                                         Kind kind);
    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&& other) noexcept;
    ~FileLock();

  private:
    explicit FileLock(int fd) : fd_(fd) {}
    int fd_ = -1;
};

}  // namespace rampart::storage
