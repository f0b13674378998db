#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::dataset {

/// A condition on the cells of one column, which makes a label of two values: "true" and "false".
struct LabelCondition {
    enum class Relation { kGreater, kAtLeast, kLess, kAtMost, kEqual, kNotEqual, kOneOf };
    Relation relation = Relation::kEqual;
    std::vector<std::string> values;  // one; 1 to kMaxConditionValues for kOneOf
    bool operator==(const LabelCondition&) const = default;

    /// Returns whether it is of an order: its cells have to be numbers.
    bool compares_numbers() const { return relation <= Relation::kAtMost; }
};

inline constexpr size_t kMaxConditionValues = 256;

/// What the key `label` of a schema file says: a column, or a condition on one.
struct LabelText {
    std::string column;
    std::optional<LabelCondition> condition = {};
    bool operator==(const LabelText&) const = default;
};

/// Reads "COLUMN", or "COLUMN RELATION VALUE" with blanks around the relation: > >= < <= == != and
/// `in [VALUE, VALUE]`. An order needs a number. Column and values may stand in single quotes,
/// doubled inside; a column whose own name reads like a condition has to. Errors:
/// "bad_label_condition", which names the character.
base::Result<LabelText> parse_label(std::string_view text);

/// Returns a text that parse_label() reads back.
std::string to_text(const LabelText& label);

/// Returns whether the condition holds for a cell that is not missing. Values that are numbers are
/// compared as numbers ("1" equals "1.0"). nullopt: an order is asked for, and it is no number.
std::optional<bool> holds(const LabelCondition& condition, std::string_view cell);

}  // namespace rampart::dataset
