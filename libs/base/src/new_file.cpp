#include "rampart/base/new_file.hpp"

#include "new_file.hpp"
#include "posix_file.hpp"

namespace rampart::base {

Status write_under_its_name(const std::filesystem::path& path, std::string_view content,
                            unsigned mode) {
    const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (file.get() < 0) return from_errno(errno, path, "write");
    if (!write_all(file.get(), content) || ::fsync(file.get()) != 0) {
        const int error = errno;
        ::unlink(path.c_str());
        return from_errno(error, path, "write");
    }
    return sync_folder_of(path);
}

Status write_new_file(const std::filesystem::path& path, std::string_view content, unsigned mode) {
    const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
    const FileDescriptor file(::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, mode));
    // EISDIR: a kernel that does not know such files
    if (file.get() < 0 && (errno == EOPNOTSUPP || errno == EISDIR))
        return write_under_its_name(path, content, mode);
    if (file.get() < 0) return from_errno(errno, path, "write");
    if (!write_all(file.get(), content) || ::fsync(file.get()) != 0)
        return from_errno(errno, path, "write");
    const auto open_file = fmt::format("/proc/self/fd/{}", file.get());
    if (::linkat(AT_FDCWD, open_file.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0)
        return from_errno(errno, path, "write");
    return sync_folder_of(path);
}

}  // namespace rampart::base
