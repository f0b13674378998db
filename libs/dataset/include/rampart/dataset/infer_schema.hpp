#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::dataset {

/// Roles of columns, which cannot be inferred from the data.
struct ColumnRoles {
    std::string label_column;
    std::string favourable;  // for a label of two values
    std::vector<std::string> protected_columns;
    std::optional<std::string> weight_column;
    std::vector<std::string> ignored_columns;
    bool numeric_label = false;  // label is a number; the draft's range is minimum to maximum
    std::optional<NumericRange> label_range = {};  // if it is known
};

/// Draft of a schema, to be checked and corrected by a person.
struct SchemaDraft {
    TableSchema schema;
    std::map<std::string, std::string> remarks;  // evidence for each feature and ignored column
    std::vector<std::string> notes = {};         // cells whose meaning changes when they are read
};

/// Infers a schema in one pass over the whole file.
///
/// Every guess has a remark with its evidence: the range of the numbers, the first text that is not
/// a number, the share of missing cells, why a column is ignored.
///
/// A column of numbers is numeric, also codes with few values (a remark says how to make them
/// categories); any other is categorical, with its values in text order. Ignored, with a remark: a
/// constant column; a row number or id (strictly increasing or decreasing integers, a column named
/// like an id with few repeats, text with few repeats); too many values (kMostCategories). "?",
/// "NA", "N/A", "NaN", "nan", "null" and "NULL" count as missing; "-", ".", "None", "none",
/// "Missing", "missing", "Unknown", "unknown" and infinities ("inf", "-Infinity" …) only if all
/// other values are numbers; a note counts them.
///
/// Fails on a role's column that the file lacks, one column in two roles, a label without exactly
/// two values or without the favourable one, a numeric label that is not all numbers ("bad_label"),
/// constant ("one_label") or outside the given range ("label_outside_range"), no feature left, and
/// on every error of CsvReader.
base::Result<SchemaDraft> infer_schema(const std::filesystem::path& path, const ColumnRoles& roles);

}  // namespace rampart::dataset
