#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

/// Schema file of a table, in TOML, to be edited by people:
///
///     label = "default payment"    # or a condition, label_condition.hpp: "days_late > 90"
///     favourable = "0"             # of a condition: "true" or "false"
///     protected = ["SEX", "AGE", "RACE"]
///     weight = "w"                 # optional
///     # a label that is a number has, in the place of `favourable`, where it can lie:
///     label_range = { lo = 0, hi = 4 }
///     label_missing = "leave_out"  # optional: rows without a label are left out; else an error
///     missing = ["?"]              # optional; the empty cell is always missing
///     ignored = ["ID"]             # optional
///
///     [[column]]                   # optional: how the cells of a column are read (ColumnRule)
///     name = "AGE"
///     bands = [25, 45, 65]         # groups "<25", "25-45", "45-65", ">=65"
///     range = [0, 120]
///     outside = "missing"          # or "error"
///     empty = "not stated"         # name of the missing; otherwise they are an error
///
///     [[column]]
///     name = "RACE"
///     pool_below = 100             # values with fewer rows are one group
///     pool = "other"
///
///     [[column]]
///     name = "OPENED"
///     date = "DD.MM.YYYY"          # or ISO, YYYYMM, MM/DD/YYYY
///
///     [[feature]]
///     name = "LIMIT_BAL"
///     kind = "numeric"
///
///     [[feature]]
///     name = "UTILISATION"
///     kind = "numeric"
///     derived = "ratio(BALANCE, LIMIT_BAL)"  # derivation.hpp
///
///     [[feature]]
///     name = "EDUCATION"
///     kind = "categorical"
///     categories = ["1", "2", "3"]
namespace rampart::dataset {

/// Parses strictly: an unknown key, a wrong type or a column with two roles is an error with name
/// and line. `name` is used in errors.
base::Result<TableSchema> parse_table_schema(std::string_view text, std::string_view name);
/// Reads a file of at most kMaxSchemaBytes.
base::Result<TableSchema> read_table_schema(const std::filesystem::path& path);
inline constexpr size_t kMaxSchemaBytes = 8 << 20;

/// Returns a text that parse_table_schema reads back as the same schema; `remarks` (by
/// column) become comments.
std::string write_table_schema(const TableSchema& schema,
                               const std::map<std::string, std::string>& remarks = {});

/// Checks that every column has one role and a valid name, and that the label is given with its
/// favourable value or its range ("bad_label_range": finite, lo < hi); that each rule has an effect
/// ("bad_column_rule"), and each derived feature its columns ("bad_derivation"): numeric features
/// or ignored columns, dates where the function takes dates. Label, weight and protected columns
/// are never the source of a feature.
base::Status validate(const TableSchema& schema);

/// Checks that the features are all that is needed to encode an application, as a service does it:
/// none is derived, a date, or has a range. Error: "not_for_applications" names the feature.
base::Status check_for_applications(const TableSchema& schema);

}  // namespace rampart::dataset
