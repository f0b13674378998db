#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/dataset/feature_schema.hpp"

/// The schema file of a table, in TOML, for people to edit:
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

/// Strict: an unknown key, a wrong type or a column with two roles is an error with name and line.
/// `name` stands in errors.
base::Result<TableSchema> parse_table_schema(std::string_view text, std::string_view name);
base::Result<TableSchema> read_table_schema(const std::filesystem::path& path);

/// A text that parse_table_schema reads back as the same schema; `remarks` (by column) become
/// comments.
std::string write_table_schema(const TableSchema& schema,
                               const std::map<std::string, std::string>& remarks = {});

/// Every column has one role and a valid name; the label is there, and its favourable value or the
/// range of its numbers ("bad_label_range": finite, lo < hi).
base::Status validate(const TableSchema& schema);

}  // namespace rampart::dataset
