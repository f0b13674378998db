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
/// 4. A tail becomes bounds of means that depend on a number c, fixed beforehand: each end of its
///    interval has its own c. With F the distribution of impacts, a <= impact <= b, S(c) =
///    E[min(I - c, 0)] and P(c) = P(I < c):
///    - cvar is the largest c + S(c) / alpha over c, so that the lower end of S(c) gives a lower
///      end. It is also the smallest mean of I under weights in [0, 1 / alpha] of mean 1. Weights 1
///      / P(c) below c give c + S(c) / P(c) where P(c) >= alpha; 1 / alpha below c, and the rest
///      above, where I <= b, give c + S(c) / alpha + (1 - P(c) / alpha) (b - c) elsewhere. So the
///      upper end follows from the upper end of S(c) and both of P(c): the largest of these over
///      P(c) between its ends, at its lower one where that is below alpha, and at its upper one
///      where that is not.
///    - quantile, the smallest v with F(v) >= alpha, is at least c if P(I < c) < alpha, and at most
///      c if P(I <= c) >= alpha; otherwise its end is that of the declared range. Where a statement
///      compares the quantile alone with a number, c is this number.
/// 5. A statement needs some ends of some leaves' intervals: the lower one of a mean that only
///    helps, the upper one of a mean that only hurts, both where neither is known. delta is divided
///    evenly over these ends.
/// 6. Once the ends are bounded, the interval of g follows (interval.hpp). It holds the truth
///    whenever the leaves' intervals do, so with probability 1 - delta; the statement passes if the
///    interval's lower end is >= 0.
namespace rampart::constraints {

inline constexpr size_t kMaxLeaves = 16;      // distinct ones per constraint
inline constexpr size_t kMaxStatements = 32;  // per constraint

/// End of a tail's interval.
struct Tail {
    Statistic statistic = Statistic::kCvar;  // or kQuantile
    double alpha = 0;                        // in (0, 1)
    bool upper = false;
    bool operator==(const Tail&) const = default;
};

/// A mean, or the mean of the difference between two policies.
struct Leaf {
    Quantity quantity = Quantity::kDecision;
    Policy policy = Policy::kCandidate;
    std::optional<Policy> minus{};  // later in the order of Policy than `policy`
    Condition condition{};
    /// What is averaged of an impact I.
    enum class Value {
        kItself,
        kIndicator,  // 1 where I `relation` c, else 0
        kShortfall,  // min(I - c, 0)
    };
    Value value = Value::kItself;
    Relation relation = Relation::kEqual;
    double threshold = 0;        // c, unless it is the plan's
    std::optional<Tail> tail{};  // the end for which the plan has c
    bool operator==(const Leaf&) const = default;
};
/// Returns "mean(loss)", "mean(loss | c) - mean(loss, reference | c)" or "mean(impact < c), c of
/// the lower end of quantile(impact, 0.1)".
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
        kMax,
        kCvar,      // parts: S of the lower end, S and P(I < c) of the upper one
        kQuantile,  // parts: P(I < c) of the lower end, P(I <= c) of the upper one
    };              // each a leaf, or a number where no statement needs it
    Kind kind = Kind::kNumber;
    double number = 0;  // alpha, for a tail
    size_t leaf = 0;    // index into Program::leaves
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

/// A statement a L1 - b L2 + e >= 0.
struct Difference {
    size_t statement = 0;          // index into Program::statements
    size_t first = 0, second = 0;  // leaves L1 and L2, different
    double a = 1, b = 1, e = 0;    // a, b > 0
    size_t persons = 0;            // in a plan: the vault's, erased ones included
    bool operator==(const Difference&) const = default;
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

/// Returns the range of the mean for any data and c: [0, 1], the declared range of impacts, or the
/// range of a difference of two of them.
Interval range_of(const Leaf& leaf, Interval impact_range);

/// Returns a statement as a difference of two means; nullopt: it is none.
std::optional<Difference> difference_of(const Program& program, size_t statement);

/// What tails need besides the intervals of leaves.
struct Thresholds {
    Interval impact_range{};
    std::span<const double> of_leaf{};  // c, one per leaf of the program
};
/// Returns the interval of the formula when each leaf lies in its own; `leaves` has one entry per
/// leaf of the program.
Known propagate(const Formula& formula, std::span<const Known> leaves,
                const Thresholds& thresholds = {});

}  // namespace rampart::constraints
