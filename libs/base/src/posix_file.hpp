#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "rampart/base/reasons.hpp"
#include "rampart/base/result.hpp"

/// What this room's files share of POSIX.
namespace rampart::base {

inline Error from_errno(int error, const std::filesystem::path& path, std::string_view action) {
    Reason reason = Reason::kIoError;
    if (error == ENOENT) reason = Reason::kNoSuchFile;
    if (error == EISDIR) reason = Reason::kIsFolder;
    if (error == EACCES || error == EPERM) reason = Reason::kNoAccess;
    if (error == ENOSPC || error == EDQUOT) reason = Reason::kDiskFull;
    return make_error(reason, "cannot {} '{}': {}", action, path.string(), std::strerror(error));
}

class FileDescriptor {
  public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    ~FileDescriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;
    int get() const { return fd_; }

  private:
    int fd_;
};

inline bool write_all(int fd, std::string_view content) {
    while (!content.empty()) {
        const ssize_t n = ::write(fd, content.data(), content.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        content.remove_prefix(static_cast<size_t>(n));
    }
    return true;
}

/// Syncs the content of a file, or the entries of a folder.
inline Status sync_one(const std::filesystem::path& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0 || ::fsync(file.get()) != 0) return from_errno(errno, path, "sync");
    return ok();
}

/// Syncs the entries of the folder that the file is in.
inline Status sync_folder_of(const std::filesystem::path& path) {
    return sync_one(path.has_parent_path() ? path.parent_path() : std::filesystem::path("."));
}

}  // namespace rampart::base
