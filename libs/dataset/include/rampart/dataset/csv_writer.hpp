#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::dataset {

/// Writes a CSV file (RFC 4180, UTF-8, LF), plain, or gzip if its name ends in .gz. The file has
/// its name once finish() has succeeded, then durably and whole; before, and after an error, there
/// is none of it, and one of that name stays as it was. Errors name the file: "is_folder",
/// "no_access", "disk_full", "io_error".
class CsvWriter {
  public:
    static base::Result<CsvWriter> create(const std::filesystem::path& path);
    ~CsvWriter();
    CsvWriter(CsvWriter&&) noexcept;
    CsvWriter& operator=(CsvWriter&&) noexcept;

    /// Adds text that is CSV already: whole lines.
    base::Status add(std::string_view lines);
    base::Status finish();

  private:
    struct Impl;
    explicit CsvWriter(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

/// Appends a cell, in quotes if it has a separator, a quote or a line end.
void append_cell(std::string& line, std::string_view cell);

}  // namespace rampart::dataset
