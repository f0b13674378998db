#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::dataset {

/// Some rows of a table, without their labels.
struct RowBlock {
    std::vector<std::vector<float>> columns;  // [d][n] as Dataset::columns
    std::vector<int32_t> group;               // [n] in RowReader::group_names(); empty: not asked
    std::vector<uint64_t> line;               // [n] line of the file on which the row begins
    std::vector<std::string> kept;            // [n·k] cells of the kept columns, row after row

    size_t rows() const { return line.size(); }
};

/// Reads the features of a table for scoring, a block of rows at a time, so that a file of any
/// length takes little memory.
///
/// Columns are found by name, in any order. Label and weight are not needed. Columns that are
/// neither features nor protected nor kept are passed over: unread() names those that the schema
/// does not mention either. Cells are encoded, and features derived, as by read_table(). A pool
/// that is not decided yet is decided from the file (pooled_values.hpp), which is then read twice.
class RowReader {
  public:
    struct Wanted {
        bool groups = false;              // read the protected columns
        std::vector<std::string> kept{};  // columns whose cells are given back as they are
    };
    /// Keeps a copy of the schema. Errors: those of CsvReader, and "missing_column" for a column
    /// that the file lacks.
    static base::Result<RowReader> open(const std::filesystem::path& path, TableSchema schema,
                                        Wanted wanted);
    ~RowReader();
    RowReader(RowReader&&) noexcept;
    RowReader& operator=(RowReader&&) noexcept;

    /// Replaces the block by the next rows, `most` >= 1 at most; no rows: the file has ended.
    /// Errors name file, line and column: those of read_table() but for labels and weights.
    /// Unusable after an error.
    base::Status next(RowBlock& block, size_t most);

    /// Returns the groups seen so far, in order of appearance.
    const std::vector<std::string>& group_names() const;
    const std::vector<std::string>& unread() const;
    /// Returns what was pooled, or so far read as missing because of a range, in words.
    std::vector<std::string> notes() const;

  private:
    struct Impl;
    explicit RowReader(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::dataset
