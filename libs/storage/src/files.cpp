#include "files.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "rampart/base/reasons.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::storage {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Result;
using base::Status;

class Descriptor {
  public:
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    int get() const { return fd_; }
    bool bad() const { return fd_ < 0; }

  private:
    int fd_;
};

constexpr size_t kBuffer = 1 << 20;

/// Reads to the end or the limit, and hands on each piece.
template <class Take>
Result<Copied> read_pieces(const fs::path& path, uint64_t limit, const Take& take) {
    const Descriptor in(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (in.bad()) return file_error(errno, path, "read");
    std::vector<char> buffer(kBuffer);
    base::Sha256 hash;
    Copied copied;
    while (copied.bytes < limit) {
        const size_t wanted = std::min<uint64_t>(buffer.size(), limit - copied.bytes);
        const ssize_t n = ::read(in.get(), buffer.data(), wanted);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return file_error(errno, path, "read");
        if (n == 0) break;
        const std::string_view piece(buffer.data(), static_cast<size_t>(n));
        hash.update(piece);
        copied.bytes += piece.size();
        RAMPART_RETURN_IF_ERROR(take(piece));
    }
    copied.digest = hash.finish();
    return copied;
}

}  // namespace

base::Error file_error(int error, const fs::path& path, std::string_view action) {
    base::AnyReason reason = base::Reason::kIoError;
    if (error == ENOENT) reason = base::Reason::kNoSuchFile;
    if (error == EACCES || error == EPERM || error == EROFS) reason = base::Reason::kNoAccess;
    if (error == ENOSPC || error == EDQUOT) reason = base::Reason::kDiskFull;
    if (error == EXDEV) reason = Reason::kOtherFileSystem;
    return base::make_error(reason, "cannot {} '{}': {}", action, path.string(),
                            std::strerror(error));
}

Result<Copied> copy_file(const fs::path& from, const fs::path& to, const CopyOptions& options) {
    ::unlink(to.c_str());  // a file that is there would keep its own mode
    const Descriptor out(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, options.mode));
    if (out.bad()) return file_error(errno, to, "write");
    RAMPART_TRY(const auto copied,
                read_pieces(from, options.limit, [&](std::string_view piece) -> Status {
                    while (!piece.empty()) {
                        const ssize_t n = ::write(out.get(), piece.data(), piece.size());
                        if (n < 0 && errno == EINTR) continue;
                        if (n < 0) return file_error(errno, to, "write");
                        piece.remove_prefix(static_cast<size_t>(n));
                    }
                    return base::ok();
                }));
    if (options.sync && ::fsync(out.get()) != 0) return file_error(errno, to, "sync");
    return copied;
}

Result<Copied> digest_of(const fs::path& file) {
    return read_pieces(file, UINT64_MAX, [](std::string_view) { return base::ok(); });
}

Status sync_folder(const fs::path& folder) {
    const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.bad() || ::fsync(fd.get()) != 0) return file_error(errno, folder, "sync");
    return base::ok();
}

Status make_folder(const fs::path& folder, unsigned mode) {
    std::error_code error;
    if (fs::is_directory(folder, error)) return base::ok();
    if (folder.has_parent_path() && folder.parent_path() != folder) {
        RAMPART_RETURN_IF_ERROR(make_folder(folder.parent_path(), mode));
    }
    if (::mkdir(folder.c_str(), mode) != 0 && errno != EEXIST) {
        return file_error(errno, folder, "make folder");
    }
    return base::ok();
}

Status remove_tree(const fs::path& path) {
    std::error_code error;
    fs::remove_all(path, error);
    if (error) return file_error(error.value(), path, "remove");
    return base::ok();
}

Result<std::optional<FileLock>> FileLock::acquire(const fs::path& path, Kind kind) {
    const bool shared = kind == Kind::kShared;
    int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 && shared) fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return file_error(errno, path, "lock");
    FileLock lock(fd);
    if (::flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0) {
        return std::optional(std::move(lock));
    }
    if (errno == EWOULDBLOCK) return std::optional<FileLock>();
    return file_error(errno, path, "lock");
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
FileLock& FileLock::operator=(FileLock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
}
FileLock::~FileLock() {
    if (fd_ >= 0) ::close(fd_);
}

}  // namespace rampart::storage
