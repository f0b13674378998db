#include "rampart/dataset/csv.hpp"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/base/utf8.hpp"

namespace rampart::dataset {
namespace {

using base::Error;
using base::Result;
namespace limits = base::limits;

struct CloseGzip {
    void operator()(gzFile file) const { gzclose_r(file); }
};
using GzipFile = std::unique_ptr<gzFile_s, CloseGzip>;

constexpr size_t kChunk = 1 << 18;

}  // namespace

/// The file's bytes pass through `buffer`; the record under way is buffer[begin, …), always
/// contiguous, so that cells can be views. First its end is found, then it is taken apart in place.
struct CsvReader::Impl {
    std::string path;
    GzipFile file;
    std::string buffer;
    size_t begin = 0;
    bool at_end = false;  // all of the file is in the buffer
    uint64_t next_line = 1;
    uint64_t line = 0;
    std::vector<std::string> columns;
    std::vector<std::string_view> cells;

    template <class... Args>
    Error bad(std::string_view reason, fmt::format_string<Args...> format, Args&&... args) const {
        return base::invalid_argument(reason, "'{}', line {}: {}", path, line,
                                      fmt::format(format, std::forward<Args>(args)...));
    }

    base::Status fill();
    Result<size_t> find_record_end();
    base::Status split(char* from, char* to);
    Result<char*> unquote(char* from, char* to, std::string_view& cell);
    Result<bool> next_record();
    base::Status check_header();
};

base::Status CsvReader::Impl::fill() {
    buffer.erase(0, begin);
    begin = 0;
    const size_t old = buffer.size();
    buffer.resize(old + kChunk);
    const int n = gzread(file.get(), buffer.data() + old, kChunk);
    buffer.resize(old + static_cast<size_t>(std::max(n, 0)));
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (code == Z_ERRNO) {
        return base::unavailable("io_error", "cannot read '{}': {}", path, std::strerror(errno));
    }
    // Z_BUF_ERROR: the compressed data end in the middle
    if (n < 0 || code != Z_OK) {
        return base::data_loss("corrupt_gzip",
                               "'{}' is a truncated or corrupt gzip file ({}); get it anew", path,
                               message);
    }
    at_end = n == 0;
    return base::ok();
}

/// One past the record's last byte (its line end included); quotes come in pairs inside a record.
Result<size_t> CsvReader::Impl::find_record_end() {
    bool quoted = false;
    for (size_t scanned = 0;;) {
        for (; begin + scanned < buffer.size(); ++scanned) {
            if (scanned == limits::kMaxRecordBytes) break;
            const char c = buffer[begin + scanned];
            if (c == '"') quoted = !quoted;
            if (c == '\n' && !quoted) return begin + scanned + 1;
        }
        const bool too_long = begin + scanned < buffer.size();
        if (too_long || (at_end && quoted)) {
            // most often a stray quote made the record run on: taking it apart finds the place
            RAMPART_RETURN_IF_ERROR(split(buffer.data() + begin, buffer.data() + begin + scanned));
        }
        if (too_long) {
            return base::out_of_range("record_too_long",
                                      "'{}', line {}: the record is longer than {} bytes; "
                                      "is a quote left open?",
                                      path, line, limits::kMaxRecordBytes);
        }
        if (at_end) return buffer.size();
        RAMPART_RETURN_IF_ERROR(fill());
    }
}

/// `from` stands on the opening quote. Moves the content together, doubled quotes to one; returns
/// what follows the closing quote.
Result<char*> CsvReader::Impl::unquote(char* from, char* to, std::string_view& cell) {
    char* const content = ++from;
    char* out = content;
    while (from != to) {
        if (*from == '"') {
            if (from + 1 == to || from[1] != '"') {
                cell = {content, static_cast<size_t>(out - content)};
                return from + 1;
            }
            ++from;
        }
        *out++ = *from++;
    }
    return bad("open_quote", "column {}: a quote is opened and not closed", cells.size() + 1);
}

/// [from, to): a record without its line end.
base::Status CsvReader::Impl::split(char* from, char* to) {
    cells.clear();
    while (true) {
        if (cells.size() == kMaxCsvColumns) {
            return base::out_of_range("too_many_columns", "'{}', line {}: more than {} columns",
                                      path, line, kMaxCsvColumns);
        }
        std::string_view cell;
        char* after = nullptr;
        if (from != to && *from == '"') {
            RAMPART_TRY(after, unquote(from, to, cell));
            if (after != to && *after != ',') {
                return bad("text_after_quote",
                           "column {}: text after the closing quote; a quote inside a "
                           "cell in quotes has to be doubled",
                           cells.size() + 1);
            }
        } else {
            after = std::find(from, to, ',');
            cell = {from, static_cast<size_t>(after - from)};
            if (cell.find('"') != std::string_view::npos) {
                return bad("stray_quote",
                           "column {}: a quote inside a cell that has none around it; put "
                           "the cell in quotes and double the quote",
                           cells.size() + 1);
            }
        }
        cells.push_back(cell);
        if (after == to) return base::ok();
        from = after + 1;
    }
}

Result<bool> CsvReader::Impl::next_record() {
    while (true) {
        if (begin == buffer.size()) {
            if (at_end) return false;
            RAMPART_RETURN_IF_ERROR(fill());
            continue;
        }
        line = next_line;
        RAMPART_TRY(const size_t end, find_record_end());
        char* const from = buffer.data() + begin;
        char* to = buffer.data() + end;
        next_line += static_cast<uint64_t>(std::count(from, to, '\n'));
        begin = end;
        if (to != from && to[-1] == '\n') --to;
        if (to != from && to[-1] == '\r') --to;
        if (to == from) continue;
        if (!base::is_utf8({from, static_cast<size_t>(to - from)})) {
            return bad("not_utf8",
                       "the text is not UTF-8; convert the file, e.g. with iconv -t UTF-8");
        }
        RAMPART_RETURN_IF_ERROR(split(from, to));
        return true;
    }
}

base::Status CsvReader::Impl::check_header() {
    std::set<std::string, std::less<>> seen;
    for (const auto cell : cells) {
        if (cell.size() > limits::kMaxNameBytes) {
            return bad("long_column_name", "column {} has a name of {} bytes; allowed are {}",
                       columns.size() + 1, cell.size(), limits::kMaxNameBytes);
        }
        if (!seen.emplace(cell).second) {
            return bad("duplicate_column", "two columns are named '{}'; rename one", cell);
        }
        columns.emplace_back(cell);
    }
    return base::ok();
}

Result<CsvReader> CsvReader::open(const std::filesystem::path& path) {
    auto impl = std::make_unique<Impl>();
    impl->path = path.string();
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        return base::invalid_argument("is_folder", "'{}' is a folder, not a CSV file", impl->path);
    }
    impl->file.reset(gzopen(path.c_str(), "rb"));
    if (impl->file == nullptr) {
        const auto code =
            errno == ENOENT ? base::ErrorCode::kNotFound : base::ErrorCode::kUnavailable;
        return base::make_error(code, errno == ENOENT ? "no_such_file" : "io_error",
                                "cannot read '{}': {}", impl->path, std::strerror(errno));
    }
    RAMPART_RETURN_IF_ERROR(impl->fill());
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (impl->buffer.starts_with(kByteOrderMark)) impl->begin = kByteOrderMark.size();
    RAMPART_TRY(const bool any, impl->next_record());
    if (!any)
        return base::invalid_argument("empty_file",
                                      "'{}' is empty; its first line has to name the "
                                      "columns",
                                      impl->path);
    RAMPART_RETURN_IF_ERROR(impl->check_header());
    return CsvReader(std::move(impl));
}

CsvReader::CsvReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CsvReader::~CsvReader() = default;
CsvReader::CsvReader(CsvReader&&) noexcept = default;
CsvReader& CsvReader::operator=(CsvReader&&) noexcept = default;

const std::vector<std::string>& CsvReader::columns() const { return impl_->columns; }
std::span<const std::string_view> CsvReader::cells() const { return impl_->cells; }
uint64_t CsvReader::line() const { return impl_->line; }

Result<bool> CsvReader::next() {
    RAMPART_TRY(const bool any, impl_->next_record());
    if (any && impl_->cells.size() != impl_->columns.size()) {
        return impl_->bad("wrong_cell_count", "{} cells where the header names {} columns",
                          impl_->cells.size(), impl_->columns.size());
    }
    return any;
}

}  // namespace rampart::dataset
