#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

namespace rampart::dataset {

/// What the data cannot tell: the roles of the columns.
struct ColumnRoles {
    std::string label_column;
    std::string favourable;  // of a label of two values
    std::vector<std::string> protected_columns;
    std::optional<std::string> weight_column;
    std::vector<std::string> ignored_columns;
    bool numeric_label = false;  // a number to predict: the draft's range is the least to the most
    std::optional<NumericRange> label_range = {};  // if it is known
};

/// A first draft of a schema, for a person to read and correct.
struct SchemaDraft {
    TableSchema schema;
    std::map<std::string, std::string> remarks;  // of each feature and each column left out: why
    std::vector<std::string> notes = {};         // what changes the numbers in the file's cells
};

/// Looks through the whole file once.
///
/// Every guess has a remark that says what it rests on: the range of the numbers, the first text
/// that is none, the share of missing cells, why a column is left out.
///
/// A column of numbers is numeric, whole-number codes with few values too (a remark says how to
/// make them categories); any other is categorical, with its values in text order. Left out, with a
/// remark: one value only; a row number or id (strictly rising or falling whole numbers, an id by
/// name with hardly a repeat, text that hardly repeats); more than limits::kMaxCategories values.
/// "?", "NA", "N/A", "NaN", "nan", "null" and "NULL" count as missing; "-", ".", "None", "none",
/// "Missing", "missing", "Unknown", "unknown" and infinities ("inf", "-Infinity", however written)
/// only where all else in the column is numbers. Of infinities a note says how many there are.
///
/// Errors: a role's column that the file lacks, one column in two roles, a label without exactly
/// two values or without the favourable one, a numeric label that is not all numbers
/// ("bad_label"), the same in all rows ("one_label") or outside the range given
/// ("label_outside_range"), no feature left, everything that CsvReader says.
base::Result<SchemaDraft> infer_schema(const std::filesystem::path& path, const ColumnRoles& roles);

}  // namespace rampart::dataset
