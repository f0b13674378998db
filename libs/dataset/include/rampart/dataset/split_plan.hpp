#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"
#include "rampart/dataset/row_keys.hpp"
#include "rampart/dataset/split.hpp"

/// How a table is divided into train, validation and test: by rows, by units such as persons, by
/// time, and by files of one's own.
namespace rampart::dataset {

/// A part that is said otherwise (by a time, by a file) does not use its share; the others are
/// scaled to sum to 1.
struct SplitPlan {
    std::string shares = "60/20/20";  // as parse_split() reads it
    std::string by = {};              // column: rows with one cell are in one part; empty: rows
    /// Column of times. Rows before `train_until` are for training, and for validation by their
    /// shares; those from it plus the gap on are the test. With `validate_until` all before
    /// `train_until` are for training, validation goes from that plus the gap to `validate_until`,
    /// and the test begins a gap after it. Rows in a gap are left out.
    std::string time = {};  // empty: not by time
    std::string train_until = {}, validate_until = {}, gap = {};

    // What training finds, so that the same table is known again.
    std::optional<base::Digest> keys = {};  // RowKeys::digest of `by` and `time`
    std::optional<base::Digest> validation_file = {}, test_file = {};  // digests of their tables

    bool needs_keys() const { return !by.empty() || !time.empty(); }
    bool operator==(const SplitPlan&) const = default;
};

/// Checks that the words go together. Errors: "bad_split" names the word; "bad_split_gap".
base::Status validate(const SplitPlan& plan);

/// Returns the plan as text: "60/20/20", "60/20/20; by person; keys 3f…". A plan of shares alone is
/// these shares, as model files of all versions have it.
std::string to_text(const SplitPlan& plan);
/// Parses what to_text() wrote. Errors: "bad_split", and those of validate().
base::Result<SplitPlan> parse_split_plan(std::string_view text);

/// Parts of a table, and what is in none.
struct PlannedSplit {
    Split parts;
    size_t in_gap = 0;        // rows left out between two parts
    size_t on_two_sides = 0;  // rows left out because their unit is in an earlier part
};

/// Divides the table. `keys` are those of the table's file if the plan needs them, else not read.
/// With a column and a time, units that are in an earlier part are left out of later ones. The same
/// seed gives the same parts. Errors: those of validate(), "bad_split_time".
base::Result<PlannedSplit> split_by_plan(const Dataset& data, const SplitPlan& plan,
                                         const RowKeys& keys, uint64_t seed);

}  // namespace rampart::dataset
