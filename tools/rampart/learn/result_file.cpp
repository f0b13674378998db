#include "learn/result_file.hpp"

#include <fmt/ranges.h>

#include <charconv>

#include "frame/reasons.hpp"
#include "rampart/base/file.hpp"

namespace rampart::cli {
namespace {

constexpr size_t kMaxBytes = 64 << 20;

base::Error damaged(const std::filesystem::path& path, uint64_t line) {
    return base::make_error(Reason::kBadResults, "line {} of {} is damaged: delete it", line,
                            path.string());
}

}  // namespace

base::Result<std::optional<ResultFile>> ResultFile::open(const std::filesystem::path& path,
                                                         std::string_view run,
                                                         std::string_view header) {
    if (std::error_code error; !std::filesystem::exists(path, error))
        return std::optional<ResultFile>();
    RAMPART_TRY(const auto text, base::read_file(path, kMaxBytes));
    if (std::string_view(text).substr(0, text.find('\n')) != fmt::format("# {}", run))
        return base::make_error(Reason::kOtherRun,
                                "{} holds the results of another run (other data, "
                                "constraints, seed or options): choose another --out, or "
                                "delete them",
                                path.string());
    auto reader = dataset::CsvReader::open_after_first_line(path);
    constexpr uint64_t kHeaderLine = 2;
    if (!reader || fmt::format("{}", fmt::join(reader->columns(), ",")) != header)
        return damaged(path, kHeaderLine);
    return std::optional(ResultFile(path, *std::move(reader)));
}

base::Result<bool> ResultFile::next() {
    auto more = reader_.next();
    if (!more) return damaged(path_, reader_.line());
    return more;
}

std::string ResultFile::text(size_t column) const { return std::string(reader_.cells()[column]); }

template <class T>
base::Status ResultFile::read_as(size_t column, T& out) const {
    const auto cell = reader_.cells()[column];
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), out);
    if (error != std::errc{} || end != cell.data() + cell.size())
        return damaged(path_, reader_.line());
    return base::ok();
}

base::Status ResultFile::read(size_t column, double& out) const { return read_as(column, out); }

base::Status ResultFile::read(size_t column, size_t& out) const { return read_as(column, out); }

std::string result_file_head(std::string_view run, std::string_view header) {
    return fmt::format("# {}\n{}\n", run, header);
}

}  // namespace rampart::cli
