#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/config/table.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/dataset/table_schema.hpp"

/// What the two kinds of schema files share: that of a table, and that of a service.
namespace rampart::dataset {

/// Parses a schema file. `terms`: one is added for each feature; nullptr: keys of a service are
/// errors.
base::Result<TableSchema> parse_schema_file(std::string_view text, std::string_view name,
                                            std::vector<FeatureTerms>* terms);

/// Parses the [[feature]] tables into `schema.derived` and `features`; `terms` as above.
void parse_features(config::Table& root, TableSchema& schema, std::vector<FeatureSpec>& features,
                    std::vector<FeatureTerms>* terms);

std::string toml_quote(std::string_view text);                  // a basic string
std::string toml_list(const std::vector<std::string>& values);  // strings, wrapped
std::string toml_number(double value);                          // a number that reads back
std::string feature_head(const FeatureSpec& spec);              // name, kind and categories

}  // namespace rampart::dataset
