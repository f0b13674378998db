#pragma once

#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::dataset {

/// Checks that each [[column]] rule is sound and has an effect: "bad_column_rule".
base::Status check_rules(const TableSchema& schema);

/// Checks that each derived feature is numeric and made of columns that may be read for it:
/// "bad_derivation".
base::Status check_derived(const TableSchema& schema);

}  // namespace rampart::dataset
