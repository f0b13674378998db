#pragma once

#include <string>

#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/feature_schema.hpp"

/// A table read and split, for what trains on it.
namespace rampart::cli {

struct TableSource {
    std::string data, cache, split;  // cache may be empty: none
    uint64_t seed = 0;
};

struct TableParts {
    dataset::Dataset all, train, validation, test;
    std::string note;  // on the cache
};

/// Nothing is checked yet of the parts. Errors: those of read_table and parse_split.
base::Result<TableParts> read_table_parts(const TableSource& source,
                                          const dataset::TableSchema& schema);

}  // namespace rampart::cli
