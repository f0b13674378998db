#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/csv.hpp"

namespace rampart::loan_stream {

/// A CSV file of known layout: cells by column, errors that name file, line, column and how to get
/// a sound copy. Columns that nobody asks for are ignored.
class SourceFile {
  public:
    /// `<dir>/<stem>.csv` or `<dir>/<stem>.csv.gz`. Error: neither is there, or it lacks one of
    /// `columns`.
    static base::Result<SourceFile> open(const std::filesystem::path& dir, std::string_view stem,
                                         std::string_view stream,
                                         const std::vector<std::string_view>& columns);

    base::Result<bool> next();
    /// The cell of columns[column], `columns` as given to open().
    std::string_view cell(size_t column) const { return csv_.cells()[positions_[column]]; }
    base::Result<double> number(size_t column) const;
    base::Result<int64_t> integer(size_t column, int64_t lo, int64_t hi) const;
    /// The error of a cell that holds something else than `expected`.
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
