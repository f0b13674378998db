#include "rampart/dataset/csv.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <set>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/dataset/reasons.hpp"

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

/// Positions of special bytes in a block of 64: bit i for byte i.
struct Marks {
    uint64_t separator = 0, quote = 0, newline = 0;
    uint64_t not_ascii = 0;
};
constexpr size_t kBlock = 64;

Marks marks_of(const char* block, char separator) {
    Marks out;
#if defined(__SSE2__)
    constexpr size_t kWide = sizeof(__m128i);
    const auto where = [](__m128i bytes, char wanted) {
        const __m128i equal = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(wanted));
        return static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(equal)));
    };
    for (size_t i = 0; i < kBlock; i += kWide) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(block + i));
        out.separator |= where(bytes, separator) << i;
        out.quote |= where(bytes, '"') << i;
        out.newline |= where(bytes, '\n') << i;
        out.not_ascii |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(bytes)))
                         << i;
    }
#else
    for (size_t i = 0; i < kBlock; ++i) {
        out.separator |= uint64_t{block[i] == separator} << i;
        out.quote |= uint64_t{block[i] == '"'} << i;
        out.newline |= uint64_t{block[i] == '\n'} << i;
        out.not_ascii |= static_cast<uint64_t>(static_cast<uint8_t>(block[i]) >> 7) << i;
    }
#endif
    return out;
}

/// Returns the separator of the first non-empty line: the most frequent candidate outside quotes;
/// on a tie the earlier one.
char separator_of(std::string_view text) {
    constexpr std::array<char, 3> kSeparators{',', ';', '\t'};
    std::array<size_t, kSeparators.size()> seen{};
    bool quoted = false;
    text.remove_prefix(std::min(text.find_first_not_of("\r\n"), text.size()));
    for (const char c : text) {
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '\n') break;
        for (size_t k = 0; k < seen.size(); ++k) seen[k] += c == kSeparators[k];
    }
    return kSeparators[static_cast<size_t>(std::max_element(seen.begin(), seen.end()) -
                                           seen.begin())];
}

/// Returns the prefix parity: bit i is set if an odd number of bits 0 … i is set.
uint64_t parities(uint64_t bits) {
    for (const int step : {1, 2, 4, 8, 16, 32}) bits ^= bits << step;
    return bits;
}

}  // namespace

/// The file's bytes pass through `buffer`; the current record is buffer[begin, …), always
/// contiguous, so that cells can be views.
///
/// Fast path: a well-formed record that ends within the buffer is split 64 bytes at a time
/// (take_whole). All other records, in particular malformed ones, are parsed byte by byte: first to
/// find the end, then the cells.
struct CsvReader::Impl {
    std::string path;
    GzipFile file;
    std::string buffer;  // followed by kBlock zero bytes after `filled`
    size_t begin = 0, filled = 0;
    bool at_end = false;  // the whole file is in the buffer
    char separator = ',';
    uint64_t next_line = 1;
    uint64_t line = 0;
    std::vector<std::string> columns;
    std::vector<std::string_view> cells;
    struct Whole {
        size_t from = 0, to = 0, next = 0;  // begin of the record, end of its text, begin of the
                                            // next record
        uint64_t lines = 0;
        bool ascii = true, quotes = false;
    };
    Whole whole;  // result of delimit()

    template <class... Args>
    Error bad(Reason reason, fmt::format_string<Args...> format, Args&&... args) const {
        return base::make_error(reason, "'{}', line {}: {}", path, line,
                                fmt::format(format, std::forward<Args>(args)...));
    }

    base::Status fill();
    bool take_whole();
    bool delimit();
    bool unquote_cells();
    Result<size_t> find_record_end();
    base::Status split(char* from, char* to);
    Result<char*> unquote(char* from, char* to, std::string_view& cell);
    Result<bool> next_record();
    base::Status check_header();
};

base::Status CsvReader::Impl::fill() {
    std::copy(buffer.begin() + static_cast<long>(begin), buffer.begin() + static_cast<long>(filled),
              buffer.begin());
    filled -= begin;
    begin = 0;
    if (buffer.size() < filled + kChunk + kBlock) buffer.resize(filled + 2 * kChunk + kBlock);
    const int n = gzread(file.get(), buffer.data() + filled, kChunk);
    filled += static_cast<size_t>(std::max(n, 0));
    std::fill_n(buffer.begin() + static_cast<long>(filled), kBlock, '\0');
    int code = Z_OK;
    const char* message = gzerror(file.get(), &code);
    if (code == Z_ERRNO) {
        return base::make_error(base::Reason::kIoError, "cannot read '{}': {}", path,
                                std::strerror(errno));
    }
    // Z_BUF_ERROR: the compressed data end in the middle
    if (n < 0 || code != Z_OK) {
        return base::make_error(Reason::kCorruptGzip,
                                "'{}' is a truncated or corrupt gzip file ({}); get a new copy",
                                path, message);
    }
    at_end = n == 0;
    return base::ok();
}

/// Splits the current record into `cells` without checking it; returns false if it does not end
/// within the buffer or exceeds a limit. Quotes come in pairs inside a record: after an odd number
/// of them, separators and line ends belong to a cell.
bool CsvReader::Impl::delimit() {
    cells.clear();
    const char* cell = buffer.data() + begin;
    uint64_t quoted = 0;  // all bits set or none: whether the block begins inside quotes
    bool ascii = true, quotes = false;
    uint64_t lines = 1;
    const size_t last = std::min(filled, begin + limits::kMaxRecordBytes);
    for (size_t at = begin; at < last; at += kBlock) {
        const Marks marks = marks_of(buffer.data() + at, separator);
        uint64_t inside = quoted;
        if (marks.quote != 0) inside ^= parities(marks.quote);
        quoted = inside >> 63 != 0 ? ~uint64_t{0} : 0;
        const uint64_t ends = marks.newline & ~inside;
        // the bits up to the end of the record; all bits if it does not end here
        const uint64_t ours = ends ^ (ends - 1);
        quotes = quotes || (marks.quote & ours) != 0;
        ascii = ascii && (marks.not_ascii & ours) == 0;
        if (const uint64_t within = marks.newline & inside & ours; within != 0)
            lines += static_cast<uint64_t>(std::popcount(within));
        for (uint64_t rest = marks.separator & ~inside & ours; rest != 0; rest &= rest - 1) {
            const char* const after =
                buffer.data() + at + static_cast<size_t>(std::countr_zero(rest));
            if (cells.size() == kMaxCsvColumns) return false;
            cells.emplace_back(cell, static_cast<size_t>(after - cell));
            cell = after + 1;
        }
        if (ends == 0) continue;
        const size_t end = at + static_cast<size_t>(std::countr_zero(ends));
        if (end >= last || cells.size() == kMaxCsvColumns) return false;
        const char* to = buffer.data() + end;
        if (to != buffer.data() + begin && to[-1] == '\r') --to;
        cells.emplace_back(cell, static_cast<size_t>(to - cell));
        whole = {begin, static_cast<size_t>(to - buffer.data()), end + 1, lines, ascii, quotes};
        return true;
    }
    return false;
}

/// Removes the quotes; returns false, with nothing changed, if a quote is misplaced.
bool CsvReader::Impl::unquote_cells() {
    const auto fits = [](std::string_view cell) {
        if (!cell.starts_with('"')) return cell.find('"') == std::string_view::npos;
        if (cell.size() < 2 || !cell.ends_with('"')) return false;
        cell = cell.substr(1, cell.size() - 2);
        size_t at = cell.find('"');
        while (at != std::string_view::npos) {
            if (at + 1 == cell.size() || cell[at + 1] != '"') return false;
            at = cell.find('"', at + 2);
        }
        return true;
    };
    if (!std::all_of(cells.begin(), cells.end(), fits)) return false;
    for (auto& cell : cells) {
        if (!cell.starts_with('"')) continue;
        cell = cell.substr(1, cell.size() - 2);
        if (cell.find('"') == std::string_view::npos) continue;
        char* const content = buffer.data() + (cell.data() - buffer.data());
        char* out = content;
        for (size_t i = 0; i < cell.size(); ++i) {
            *out++ = cell[i];
            if (cell[i] == '"') ++i;  // skips the second quote of the pair
        }
        cell = {content, static_cast<size_t>(out - content)};
    }
    return true;
}

/// Returns true if the current record is in `cells` and consumed.
bool CsvReader::Impl::take_whole() {
    if (!delimit()) return false;
    const std::string_view text(buffer.data() + whole.from, whole.to - whole.from);
    if (!whole.ascii && !base::is_utf8(text)) return false;
    if (whole.quotes && !unquote_cells()) return false;
    next_line += whole.lines;
    begin = whole.next;
    return true;
}

/// Returns the position after the record's last byte (line end included); quotes come in pairs
/// inside a record.
Result<size_t> CsvReader::Impl::find_record_end() {
    bool quoted = false;
    for (size_t scanned = 0;;) {
        for (; begin + scanned < filled; ++scanned) {
            if (scanned == limits::kMaxRecordBytes) break;
            const char c = buffer[begin + scanned];
            if (c == '"') quoted = !quoted;
            if (c == '\n' && !quoted) return begin + scanned + 1;
        }
        const bool too_long = begin + scanned < filled;
        if (too_long || (at_end && quoted)) {
            // usually a stray quote made the record too long: splitting it finds the place
            RAMPART_RETURN_IF_ERROR(split(buffer.data() + begin, buffer.data() + begin + scanned));
        }
        if (too_long) {
            return base::make_error(Reason::kRecordTooLong,
                                    "'{}', line {}: the record is longer than {} bytes; "
                                    "is a quote left open?",
                                    path, line, limits::kMaxRecordBytes);
        }
        if (at_end) return filled;
        RAMPART_RETURN_IF_ERROR(fill());
    }
}

/// `from` points at the opening quote. Moves the content together, with doubled quotes as one;
/// returns the position after the closing quote.
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
    return bad(Reason::kOpenQuote, "column {}: a quote is opened and not closed", cells.size() + 1);
}

/// Splits [from, to), a record without its line end.
base::Status CsvReader::Impl::split(char* from, char* to) {
    cells.clear();
    while (true) {
        if (cells.size() == kMaxCsvColumns) {
            return base::make_error(Reason::kTooManyColumns, "'{}', line {}: more than {} columns",
                                    path, line, kMaxCsvColumns);
        }
        std::string_view cell;
        char* after = nullptr;
        if (from != to && *from == '"') {
            RAMPART_TRY(after, unquote(from, to, cell));
            if (after != to && *after != separator) {
                return bad(Reason::kTextAfterQuote,
                           "column {}: text after the closing quote; a quote inside a "
                           "cell in quotes has to be doubled",
                           cells.size() + 1);
            }
        } else {
            after = std::find(from, to, separator);
            cell = {from, static_cast<size_t>(after - from)};
            if (cell.find('"') != std::string_view::npos) {
                return bad(Reason::kStrayQuote,
                           "column {}: a quote inside a cell without quotes around it; put "
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
        if (begin == filled) {
            if (at_end) return false;
            RAMPART_RETURN_IF_ERROR(fill());
            continue;
        }
        line = next_line;
        if (take_whole()) {
            if (whole.from == whole.to) continue;
            return true;
        }
        RAMPART_TRY(const size_t end, find_record_end());
        char* const from = buffer.data() + begin;
        char* to = buffer.data() + end;
        next_line += static_cast<uint64_t>(std::count(from, to, '\n'));
        begin = end;
        if (to != from && to[-1] == '\n') --to;
        if (to != from && to[-1] == '\r') --to;
        if (to == from) continue;
        if (!base::is_utf8({from, static_cast<size_t>(to - from)})) {
            return bad(Reason::kNotUtf8,
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
            return bad(Reason::kLongColumnName, "column {} has a name of {} bytes; allowed are {}",
                       columns.size() + 1, cell.size(), limits::kMaxNameBytes);
        }
        if (!seen.emplace(cell).second) {
            return bad(Reason::kDuplicateColumn, "two columns are named '{}'; rename one", cell);
        }
        columns.emplace_back(cell);
    }
    return base::ok();
}

Result<CsvReader> CsvReader::open(const std::filesystem::path& path) { return open(path, false); }

Result<CsvReader> CsvReader::open_after_first_line(const std::filesystem::path& path) {
    return open(path, true);
}

Result<CsvReader> CsvReader::open(const std::filesystem::path& path, bool skip_first_line) {
    auto impl = std::make_unique<Impl>();
    impl->path = path.string();
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) {
        return base::make_error(base::Reason::kIsFolder, "'{}' is a folder, not a CSV file",
                                impl->path);
    }
    impl->file.reset(gzopen(path.c_str(), "rb"));
    if (impl->file == nullptr) {
        const auto reason = errno == ENOENT ? base::Reason::kNoSuchFile : base::Reason::kIoError;
        return base::make_error(reason, "cannot read '{}': {}", impl->path, std::strerror(errno));
    }
    constexpr unsigned kGzipBuffer = 1 << 17;
    gzbuffer(impl->file.get(), kGzipBuffer);
    RAMPART_RETURN_IF_ERROR(impl->fill());
    constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
    if (std::string_view(impl->buffer.data(), impl->filled).starts_with(kByteOrderMark))
        impl->begin = kByteOrderMark.size();
    if (skip_first_line) {
        const auto end = impl->buffer.find('\n', impl->begin);
        impl->begin = std::min(end, impl->filled - 1) + 1;
        impl->next_line = 2;
    }
    impl->separator =
        separator_of(std::string_view(impl->buffer.data(), impl->filled).substr(impl->begin));
    RAMPART_TRY(const bool any, impl->next_record());
    if (!any)
        return base::make_error(Reason::kEmptyFile,
                                "'{}' is empty; its first line must name the "
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
        return impl_->bad(Reason::kWrongCellCount, "{} cells where the header names {} columns",
                          impl_->cells.size(), impl_->columns.size());
    }
    return any;
}

}  // namespace rampart::dataset
