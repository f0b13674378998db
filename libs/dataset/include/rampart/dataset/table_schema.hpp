#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/dataset/derivation.hpp"
#include "rampart/dataset/feature_schema.hpp"
#include "rampart/dataset/label_condition.hpp"

namespace rampart::dataset {

/// How dates are written. Whole days; a time of day behind kIso is dropped.
enum class DateForm {
    kIso,           // "ISO": 2006, 2006-01, 2006-01-31, as parse_date() reads them
    kYearMonth,     // "YYYYMM": 200601, its first day
    kDayMonthYear,  // "DD.MM.YYYY": 31.01.2006, 1.2.2006
    kMonthDayYear,  // "MM/DD/YYYY": 01/31/2006, 1/2/2006
};

/// How the cells of one column are read: [[column]] of the schema file.
struct ColumnRule {
    std::string column;
    std::optional<DateForm> date = {};       // cells are dates: days since 1970-01-01
    std::optional<NumericRange> range = {};  // allowed numbers, both ends with it
    bool outside_is_error = false;           // a number outside: an error, else missing
    // Only for protected columns:
    std::vector<double> bands = {};      // bounds, ascending: "<25", "25-45", …, ">=65"
    size_t pool_below = 0;               // values with fewer rows have one name; 0: none are pooled
    std::string pool = {};               // that name
    std::vector<std::string> keep = {};  // values that keep their name; empty: to be counted
    std::string empty = {};              // name of what is missing; empty: an error
    bool operator==(const ColumnRule&) const = default;

    /// Returns whether cells become numbers in another way than those of any numeric column.
    bool reads_numbers() const { return date || range; }
};

inline constexpr size_t kMaxBands = 32;

/// Roles of a table's columns: the schema file of `rampart train`. The label is either one of two
/// values (`favourable` is set) or a number (`label_range` is set).
struct TableSchema {
    FeatureSchema features;
    std::string label_column;
    std::string favourable;  // label value that becomes y = 1; the other becomes 0
    std::vector<std::string> protected_columns;  // their combination is the group; never features
    std::optional<std::string> weight_column;
    std::vector<std::string> ignored_columns;
    std::vector<std::string> missing_tokens;  // in addition to the empty cell, e.g. "?"
    std::optional<NumericRange> label_range = {};
    std::optional<LabelCondition> condition = {};  // makes the label "true" or "false"
    bool leave_out_unlabelled = false;  // rows without a label are left out; else an error
    std::vector<ColumnRule> rules = {};
    std::map<std::string, Derivation, std::less<>> derived = {};  // by feature
    bool operator==(const TableSchema&) const = default;

    /// Returns the rule of a column; nullptr: it has none.
    const ColumnRule* rule_of(std::string_view column) const;
    /// Returns what is predicted, for people: "repaid", "days_late > 90".
    std::string label_text() const { return to_text(LabelText{label_column, condition}); }
};

/// Returns the name of the band that a number is in; bounds ascending, at least one.
std::string band_name(const std::vector<double>& bounds, double number);

}  // namespace rampart::dataset
