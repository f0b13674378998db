#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::dataset {

inline constexpr size_t kMaxCsvColumns = 4096;

/// Reads a CSV file (RFC 4180, UTF-8, plain or gzip), one record after the
/// other, in constant memory.
///
/// The first record names the columns; names are unique, at most one is empty (an unnamed
/// row number). Cells are separated by commas, semicolons or tabs: the one that is most
/// frequent in the first line outside quotes (on a tie comma before semicolon before tab).
/// Lines end with LF or CRLF. A cell in quotes may contain separators, line ends and
/// doubled quotes; a quote inside a cell without quotes is an error. Empty lines and a byte
/// order mark are skipped.
///
///     RAMPART_TRY(auto csv, CsvReader::open(path));
///     while (true) {
///         RAMPART_TRY(const bool more, csv.next());
///         if (!more) break;
///         use(csv.cells());
///     }
///
/// Errors name file and line: invalid_argument: not CSV or not UTF-8, out_of_range: a record past
/// limits::kMaxRecordBytes or more than kMaxCsvColumns columns, data_loss: a truncated or corrupt
/// gzip file. Unusable after an error or the end. Not thread safe.
class CsvReader {
  public:
    static base::Result<CsvReader> open(const std::filesystem::path& path);
    /// Opens a file whose columns are named on its second line; the first one is passed over.
    static base::Result<CsvReader> open_after_first_line(const std::filesystem::path& path);
    ~CsvReader();
    CsvReader(CsvReader&&) noexcept;
    CsvReader& operator=(CsvReader&&) noexcept;

    const std::vector<std::string>& columns() const;
    /// Reads the next record; returns false at the end of the file.
    base::Result<bool> next();
    /// Returns the record's cells, columns().size() of them, unescaped. Valid until the
    /// next call of next().
    std::span<const std::string_view> cells() const;
    /// Returns the line on which the record begins; the header is on line 1.
    uint64_t line() const;

  private:
    struct Impl;
    explicit CsvReader(std::unique_ptr<Impl> impl);
    static base::Result<CsvReader> open(const std::filesystem::path& path, bool skip_first_line);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::dataset
