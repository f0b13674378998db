#include "rampart/dataset/csv_writer.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "rampart/base/reasons.hpp"

namespace rampart::dataset {
namespace {

base::Error from_errno(const std::filesystem::path& path) {
    using base::Reason;
    Reason reason = Reason::kIoError;
    if (errno == ENOENT) reason = Reason::kNoSuchFile;
    if (errno == EACCES || errno == EPERM) reason = Reason::kNoAccess;
    if (errno == ENOSPC || errno == EDQUOT) reason = Reason::kDiskFull;
    return base::make_error(reason, "cannot write '{}': {}", path.string(), std::strerror(errno));
}

}  // namespace

struct CsvWriter::Impl {
    std::filesystem::path path, partial;
    int descriptor = -1;  // the partial file, to sync it once zlib has closed its own
    gzFile file = nullptr;
    bool finished = false;

    ~Impl() {
        if (file != nullptr) gzclose_w(file);
        if (descriptor >= 0) ::close(descriptor);
        if (!finished && !partial.empty()) ::unlink(partial.c_str());
    }
};

base::Result<CsvWriter> CsvWriter::create(const std::filesystem::path& path) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        return base::make_error(base::Reason::kIsFolder, "cannot write '{}': it is a folder",
                                path.string());
    auto impl = std::make_unique<Impl>();
    impl->path = path;
    const auto partial = path.string() + fmt::format(".partial.{}", ::getpid());
    impl->descriptor = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (impl->descriptor < 0) return from_errno(path);
    impl->partial = partial;
    const int second = ::fcntl(impl->descriptor, F_DUPFD_CLOEXEC, 0);
    // T: as it is, without compression
    if (second >= 0) impl->file = ::gzdopen(second, path.extension() == ".gz" ? "wb1" : "wbT");
    if (impl->file == nullptr) {
        const auto error = from_errno(path);
        if (second >= 0) ::close(second);
        return error;
    }
    constexpr unsigned kBuffer = 1 << 18;
    ::gzbuffer(impl->file, kBuffer);
    return CsvWriter(std::move(impl));
}

CsvWriter::CsvWriter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CsvWriter::~CsvWriter() = default;
CsvWriter::CsvWriter(CsvWriter&&) noexcept = default;
CsvWriter& CsvWriter::operator=(CsvWriter&&) noexcept = default;

base::Status CsvWriter::add(std::string_view lines) {
    if (lines.empty()) return base::ok();
    if (::gzfwrite(lines.data(), 1, lines.size(), impl_->file) == lines.size()) return base::ok();
    return from_errno(impl_->path);
}

base::Status CsvWriter::finish() {
    if (::gzclose_w(std::exchange(impl_->file, nullptr)) != Z_OK ||
        ::fsync(impl_->descriptor) != 0 ||
        ::rename(impl_->partial.c_str(), impl_->path.c_str()) != 0)
        return from_errno(impl_->path);
    impl_->finished = true;
    const auto parent = impl_->path.parent_path();
    const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC);
    const bool synced = folder >= 0 && ::fsync(folder) == 0;
    if (folder >= 0) ::close(folder);
    if (!synced) return from_errno(impl_->path);
    return base::ok();
}

void append_cell(std::string& line, std::string_view cell) {
    if (cell.find_first_of(",;\t\"\r\n") == std::string_view::npos) {
        line += cell;
        return;
    }
    line += '"';
    for (const char c : cell) {
        if (c == '"') line += '"';
        line += c;
    }
    line += '"';
}

}  // namespace rampart::dataset
