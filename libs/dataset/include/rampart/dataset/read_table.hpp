#pragma once

#include <filesystem>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::dataset {

/// Reads a CSV file (plain or gzip) according to the schema.
///
/// Rows keep the file's order. The group of a row is the combination of its protected columns'
/// values, "sex=2,race=White" with columns in the schema's order; group names are sorted as
/// text. Without protected columns there are no groups. An empty cell and each of
/// schema.missing_tokens is a missing feature value. The label's values are compared as numbers
/// if they are numbers ("1" equals "1.0").
///
/// Errors name file, line, column and remedy:
/// - a column of the schema that the file lacks; a column of the file that the schema does not
/// mention;
/// - a text in a numeric column, a weight that is not > 0, an empty label, an empty protected
/// value;
/// - a label with a third value, with one value only, or without the favourable one;
/// - a numeric label (schema.label_range) that is not a number ("label_not_a_number"), outside the
/// range ("label_outside_range"), or the same in all rows ("one_label");
/// - more than limits::kMaxGroups groups or limits::kMaxRows rows, no rows at all;
/// - every error of CsvReader.
base::Result<Dataset> read_table(const std::filesystem::path& path, const TableSchema& schema);

}  // namespace rampart::dataset
