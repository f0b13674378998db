#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/table_schema.hpp"

namespace rampart::cli {

/// Returns the place in the file, from 0, of each row that dataset::read_table() keeps of it: rows
/// without a label may be left out. Errors: those of dataset::RowReader.
base::Result<std::vector<uint32_t>> file_rows(const std::string& file,
                                              const dataset::TableSchema& schema, size_t kept);

}  // namespace rampart::cli
