#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::dataset {

/// A schema in which it is decided which values are pooled.
struct PooledSchema {
    TableSchema schema;              // each rule with `pool_below` has its `keep`
    std::vector<std::string> notes;  // what was pooled, in words
    bool counted = false;            // the file was read
};

/// Counts the values of the protected columns whose rules have `pool_below` and no `keep` yet, and
/// keeps those with at least that many rows of the file. What is missing is in no pool. Without
/// such a rule nothing is read. The result decides for every other file: a value that is not kept
/// is pooled there, however frequent it is.
///
/// Errors: "missing_column"; "no_rows"; "bad_column_rule" where no value has that many rows;
/// "too_many_groups" past 100,000 values; every error of CsvReader.
base::Result<PooledSchema> decide_pools(const std::filesystem::path& path,
                                        const TableSchema& schema);

}  // namespace rampart::dataset
