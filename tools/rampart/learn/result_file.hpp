#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/dataset/csv.hpp"

namespace rampart::cli {

/// A CSV file of what a long run has found so far. Its first line names the run, so that the
/// results of another run are not taken for this one's; the second names the columns.
class ResultFile {
  public:
    /// Returns nullopt where there is no such file. `header`: the columns, as written.
    /// Errors: invalid_argument "other_run", data_loss "bad_results".
    static base::Result<std::optional<ResultFile>> open(const std::filesystem::path& path,
                                                        std::string_view run,
                                                        std::string_view header);

    /// Goes to the next row; false at the end. Error: data_loss "bad_results", naming the line.
    base::Result<bool> next();
    std::string text(size_t column) const;
    /// Reads a cell as a number into `out`. Error: data_loss "bad_results", naming the line.
    base::Status read(size_t column, double& out) const;
    base::Status read(size_t column, size_t& out) const;

  private:
    ResultFile(std::filesystem::path path, dataset::CsvReader reader)
        : path_(std::move(path)), reader_(std::move(reader)) {}
    template <class T>
    base::Status read_as(size_t column, T& out) const;

    std::filesystem::path path_;
    dataset::CsvReader reader_;
};

/// Returns the two lines before the rows.
std::string result_file_head(std::string_view run, std::string_view header);

}  // namespace rampart::cli
