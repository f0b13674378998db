#include "rampart/base/file.hpp"

#include "posix_file.hpp"
#include "rampart/base/reasons.hpp"

namespace rampart::base {
Result<std::string> read_file(const std::filesystem::path& path, size_t limit) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) return from_errno(errno, path, "read");
    std::string content;
    char buffer[1 << 16];
    while (true) {
        const ssize_t n = ::read(file.get(), buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return from_errno(errno, path, "read");
        if (n == 0) return content;
        content.append(buffer, static_cast<size_t>(n));
        if (content.size() > limit) {
            return make_error(Reason::kFileTooLarge, "'{}' is longer than {} bytes", path.string(),
                              limit);
        }
    }
}

Status write_file_atomically(const std::filesystem::path& path, std::string_view content,
                             unsigned mode) {
    const auto temporary = path.string() + fmt::format(".tmp.{}", ::getpid());
    // what a process of this number left would keep its mode; the umask holds for the new file
    ::unlink(temporary.c_str());
    {
        const FileDescriptor file(
            ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
        if (file.get() < 0) return from_errno(errno, path, "write");
        if (!write_all(file.get(), content) || ::fsync(file.get()) != 0) {
            const int error = errno;
            ::unlink(temporary.c_str());
            return from_errno(error, path, "write");
        }
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
        const int error = errno;
        ::unlink(temporary.c_str());
        return from_errno(error, path, "write");
    }
    return sync_folder_of(path);
}

Status sync_tree(const std::filesystem::path& folder) {
    std::error_code failure;
    std::filesystem::recursive_directory_iterator entries(folder, failure), end;
    while (!failure && entries != end) {
        const bool link = entries->is_symlink(failure);
        if (!failure && !link) RAMPART_RETURN_IF_ERROR(sync_one(entries->path()));
        entries.increment(failure);
    }
    if (failure) return from_errno(failure.value(), folder, "sync");
    return sync_one(folder);
}

}  // namespace rampart::base
