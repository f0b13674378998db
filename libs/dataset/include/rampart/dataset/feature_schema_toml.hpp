#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

/// Schema file of a table, in TOML, to be edited by people:
///
///     label = "default payment"
///     favourable = "0"
///     protected = ["SEX"]
///     weight = "w"                 # optional
///     # a label that is a number has, in the place of `favourable`, where it can lie:
///     label_range = { lo = 0, hi = 4 }
///     missing = ["?"]              # optional; the empty cell is always missing
///     ignored = ["ID"]             # optional
///
///     [[feature]]
///     name = "LIMIT_BAL"
///     kind = "numeric"
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
/// favourable value or its range ("bad_label_range": finite, lo < hi).
base::Status validate(const TableSchema& schema);

}  // namespace rampart::dataset
