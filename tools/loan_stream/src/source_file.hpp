#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/csv.hpp"

namespace rampart::loan_stream {

/// A CSV file of known layout: cells by column, errors that name file, line, column and how to get
/// an intact copy. Columns that are not requested are ignored.
class SourceFile {
  public:
    /// Opens `<dir>/<stem>.csv` or `<dir>/<stem>.csv.gz`. Fails if neither exists, or one of
    /// `columns` is missing.
    static base::Result<SourceFile> open(const std::filesystem::path& dir, std::string_view stem,
                                         std::string_view stream,
                                         const std::vector<std::string_view>& columns);

    base::Result<bool> next();
    /// Returns the cell of columns[column], with `columns` as passed to open().
    std::string_view cell(size_t column) const { return csv_.cells()[positions_[column]]; }
    base::Result<double> number(size_t column) const;
    base::Result<int64_t> integer(size_t column, int64_t lo, int64_t hi) const;
    /// Returns the error for a cell that is not `expected`.
    base::Error bad_cell(size_t column, std::string_view expected) const;

  private:
    SourceFile(dataset::CsvReader csv, std::filesystem::path path, std::string stream)
        : csv_(std::move(csv)), path_(std::move(path)), stream_(std::move(stream)) {}

    dataset::CsvReader csv_;
    std::filesystem::path path_;
    std::string stream_;
    std::vector<size_t> positions_;
};

}  // namespace rampart::loan_stream
