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

/// Reads a CSV file (RFC 4180, UTF-8, plain or gzip), one record after the other, in constant
/// memory.
///
/// The first record names the columns: each name once, at most one of them empty (a nameless row
/// number). Cells are separated by commas, semicolons or tabs: by what the first line has most of
/// outside quotes, a comma rather than a semicolon rather than a tab where they are as many. Lines
/// end with LF or CRLF; a cell in quotes may hold separators, line ends and doubled
/// quotes; a quote inside a cell without quotes is an error. Empty lines are passed over, a byte
/// order mark too.
///
///     RAMPART_TRY(auto csv, CsvReader::open(path));
///     while (true) {
///         RAMPART_TRY(const bool more, csv.next());
///         if (!more) break;
///         use(csv.cells());
///     }
///
/// Errors name file and line: invalid_argument for text that is not CSV or not UTF-8, out_of_range
/// for a record past limits::kMaxRecordBytes or more columns than kMaxCsvColumns, data_loss for a
/// truncated or corrupt gzip file. After an error or the end the reader is spent. Not thread safe.
class CsvReader {
  public:
    static base::Result<CsvReader> open(const std::filesystem::path& path);
    /// Opens a file whose columns are named on its second line; the first one is passed over.
    static base::Result<CsvReader> open_after_first_line(const std::filesystem::path& path);
    ~CsvReader();
    CsvReader(CsvReader&&) noexcept;
    CsvReader& operator=(CsvReader&&) noexcept;

    const std::vector<std::string>& columns() const;
    /// Goes to the next record; false at the end of the file.
    base::Result<bool> next();
    /// The record's cells, columns().size() of them, unescaped. Valid until the next call of
    /// next().
    std::span<const std::string_view> cells() const;
    /// The line on which the record begins; the header is on line 1.
    uint64_t line() const;

  private:
    struct Impl;
    explicit CsvReader(std::unique_ptr<Impl> impl);
    static base::Result<CsvReader> open(const std::filesystem::path& path, bool skip_first_line);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::dataset
