#pragma once

#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/constraints/expression.hpp"

namespace rampart::constraints {

inline constexpr size_t kMaxTextBytes = 4096;  // limit for one constraint
inline constexpr size_t kMaxNesting = 32;      // brackets, signs and `not` within each other
inline constexpr size_t kMaxNodes = 256;       // operators, means, numbers and conditions
inline constexpr size_t kMaxMeans = 32;        // as written; see kMaxLeaves of program.hpp

/// Reads a constraint.
///
///     constraint = sum (">=" | "<=") sum
///                | DEFINITION "(" [ TEXT [ "," TEXT ] ] [ "," NUMBER ] [ "," ]
///                [ ["-"] NUMBER ] ")"
///     sum        = product { ("+" | "-") product }
///     product    = signed { ("*" | "/") signed }
///     signed     = "-" signed | NUMBER | "(" sum ")" | mean
///                | "abs" "(" sum ")" | ("min" | "max") "(" sum "," sum { "," sum } ")"
///     mean       = ("mean" "(" (quantity | "impact" ("<" | "<=" | ">" | ">=") ["-"] NUMBER)
///                | ("cvar" | "quantile") "(" "impact" "," NUMBER)
///                [ "," policy ] [ "|" any ] ")"
///     quantity   = "impact" | "label" | "decision" | "loss" | "decision" "*" "label"
///     policy     = "candidate" | "reference" | "anchor"
///     any        = all { "or" all }
///     all        = not { "and" not }
///     not        = "not" not | "(" any ")" | test
///     test       = "label" "=" ("0" | "1")
///                | ("group" | NAME) ("=" | "!=") TEXT | ("group" | NAME) "in" "(" TEXT {"," TEXT}
///                ")" | NAME ("=" | "!=" | "<" | "<=" | ">" | ">=") ["-"] NUMBER
///
/// DEFINITION: a name of definitions.hpp, with the groups and the numbers that it takes; what is
/// returned is the tree that it stands for.
/// NAME: letters, digits, '_' and '.', or anything in `backticks`. TEXT: in "…" or '…', with
/// \ before a quote or a backslash. Errors: invalid_argument "constraint_syntax",
/// "constraint_limit", naming the column (in characters, from 1), the fault and the remedy.
base::Result<Constraint> parse(std::string_view text);

/// Checks that the text of a tree built by hand reads back as the same tree. Errors:
/// invalid_argument as parse's, or "bad_constraint" for a tree that has no text (a number that is
/// not finite, a name with a backtick, `min` of one part).
base::Status validate(const Constraint& constraint);

}  // namespace rampart::constraints
