#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/split_time.hpp"

namespace rampart::dataset {

struct TableSchema;

/// What a table's rows are split by: cells of columns that need not be features.
struct RowKeys {
    std::vector<uint32_t> unit;           // [n] index into unit_names; empty: not asked for
    std::vector<std::string> unit_names;  // cells of the column, by first appearance
    std::vector<double> time;             // [n] on the scale; empty: not asked for
    TimeScale scale = TimeScale::kDates;
    base::Digest digest;  // SHA-256 of the cells of both columns, row by row

    size_t units() const { return unit_names.size(); }
};

/// Reads the columns `by` (rows with the same text belong together: a person) and `time` of a CSV
/// file; empty: not asked for. Any column of the file will do. Rows are in read_table()'s order.
/// Times are dates if all cells are (so "2006" is a year), else numbers. Rows that the schema
/// leaves out because they have no label are left out here, too; nullptr: there are none.
///
/// Errors name file, line and column: "missing_column"; "empty_split_cell"; "long_split_cell" past
/// limits::kMaxTextBytes; "bad_split_time" for a cell that is neither, or of another kind than the
/// cells before it; "too_many_rows"; every error of CsvReader.
base::Result<RowKeys> read_row_keys(const std::filesystem::path& path, const std::string& by,
                                    const std::string& time, const TableSchema* schema = nullptr);

}  // namespace rampart::dataset
