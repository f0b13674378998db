#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/constraints/expression.hpp"
#include "rampart/constraints/interval.hpp"

/// Compiles a constraint into the bounds that certify it.
///
/// 1. The constraint becomes  g >= 0,  g the difference of its sides.
/// 2. Where g >= 0 combines several conditions, each is a statement of its own: min(a, b) >= 0 is
///    a >= 0 and b >= 0;  e - |d| >= 0 is  e - d >= 0 and e + d >= 0. Each statement is tested with
///    the constraint's whole delta: if the constraint is violated, one of them is, and the chance
///    that all pass is at most the chance that this one does (intersection-union).
/// 3. In a sum, two means of the same quantity under the same condition and different policies,
///    with opposite signs, become one leaf: the mean of the difference, record by record. It varies
///    far less than the two.
/// 4. A statement needs some ends of some leaves' intervals: the lower one of a mean that only
///    helps, the upper one of a mean that only hurts, both where neither is known. delta is divided
///    evenly over these ends.
/// 5. Once the ends are bounded, the interval of g follows (interval.hpp). It holds the truth
///    whenever the leaves' intervals do, so with probability 1 - delta; the statement passes if the
///    interval's lower end is >= 0.
namespace rampart::constraints {

inline constexpr size_t kMaxLeaves = 16;      // distinct ones per constraint
inline constexpr size_t kMaxStatements = 32;  // per constraint

/// A mean, or the mean of the difference between two policies.
struct Leaf {
    Quantity quantity = Quantity::kDecision;
    Policy policy = Policy::kCandidate;
    std::optional<Policy> minus{};  // later in the order of Policy than `policy`
    Condition condition{};
    bool operator==(const Leaf&) const = default;
};
/// Returns "mean(loss)" or "mean(loss | c) - mean(loss, reference | c)".
std::string text(const Leaf& leaf);
bool uses_label(const Leaf& leaf);

/// g of a statement, over numbers and leaves.
struct Formula {
    enum class Kind {
        kNumber,
        kLeaf,
        kNegate,
        kAdd,
        kSubtract,
        kMultiply,
        kDivide,
        kAbs,
        kMin,
        kMax
    };
    Kind kind = Kind::kNumber;
    double number = 0;
    size_t leaf = 0;  // index into Program::leaves
    std::vector<Formula> parts{};
    bool operator==(const Formula&) const = default;
};

/// One end of the interval of a leaf.
struct End {
    size_t leaf = 0;
    bool upper = false;
    bool operator==(const End&) const = default;
};

struct Statement {
    Formula formula;         // >= 0 is what it states
    std::vector<End> needs;  // at least one; each once, by leaf, lower before upper
    bool operator==(const Statement&) const = default;
};

struct Program {
    Constraint constraint;
    std::vector<Leaf> leaves;
    std::vector<Statement> statements;
    Interval impact_range;  // declared
    bool operator==(const Program&) const = default;
};

/// Compiles a constraint. Errors: validate()'s; invalid_argument "constraint_limit" beyond
/// kMaxLeaves or kMaxStatements; "constraint_empty" when everything cancels; "bad_impact_range".
base::Result<Program> compile(const Constraint& constraint, Interval impact_range);
/// Parses, then compiles.
base::Result<Program> compile(std::string_view constraint, Interval impact_range);

/// Returns the range of the mean for any data: [0, 1], the declared range of impacts, or the range
/// of a difference of two of them.
Interval range_of(const Leaf& leaf, Interval impact_range);

/// Returns the interval of the formula when each leaf lies in its own; `leaves` has one entry per
/// leaf of the program.
Known propagate(const Formula& formula, std::span<const Known> leaves);

}  // namespace rampart::constraints
