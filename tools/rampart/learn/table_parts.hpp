#pragma once

#include <CLI/CLI.hpp>
#include <boost/json.hpp>
#include <string>
#include <vector>

#include "rampart/base/digest.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/pooled_values.hpp"
#include "rampart/dataset/split_plan.hpp"
#include "rampart/dataset/table_schema.hpp"

/// A table and its parts, as the words of the command line say.
namespace rampart::cli {

/// The words of a split, as typed.
struct SplitWords {
    dataset::SplitPlan plan;
    std::string validation_data, test_data;  // files; empty: rows of the table
    /// Returns the split in one line: "60/20/20", "60/20/20; by person".
    std::string text() const;
};

/// Adds --split, --split-by, --time-column, --train-until, --validate-until, --gap,
/// --validation-data and --test-data.
void add_split_words(CLI::App& command, SplitWords& words, const std::string& group);

struct TableSource {
    std::string data, cache;  // cache may be empty: none
    SplitWords split;
    uint64_t seed = 0;
};

/// Rows of the table, and of files of their own. Groups have the same numbers in all.
struct TableParts {
    dataset::Dataset all, train, validation, test;
    dataset::PooledSchema pooled;         // the schema, with what the table's pools keep
    std::string note;                     // on the cache
    base::Digest data;                    // evaluation::digest_of the table as it was read
    dataset::SplitPlan plan;              // with what the data say
    std::vector<std::string> persons;     // [train rows] the cell of --split-by; empty: by rows
    size_t in_gap = 0, on_two_sides = 0;  // rows left out
    size_t validation_twins = 0, test_twins = 0;    // rows with a twin in train
    size_t validation_shared = 0, test_shared = 0;  // rows of a file whose unit is in train

    /// Returns the sizes, what was left out, and twins, in lines.
    std::string text() const;
    boost::json::object json() const;
    /// Returns what reading changed, and what to do about persons and twins on both sides.
    std::vector<std::string> notes() const;
};

/// Nothing is checked yet of the parts. Errors: those of read_table, read_row_keys, split_by_plan
/// and parse_split.
base::Result<TableParts> read_table_parts(const TableSource& source,
                                          const dataset::TableSchema& schema);

}  // namespace rampart::cli
