#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// A constraint: averages over applicants, and a comparison of them.
///
///     mean(impact | group = "sex=female") >= mean(impact, reference | group = "sex=female")
///     abs(mean(decision | sex = "F") - mean(decision | sex = "M")) <= 0.05
///
/// Plain values: build them by the functions below or by parse(). Every tree has one text
/// (`text`), and parse(text(x)) == x for every tree that validate() of parse.hpp accepts.
namespace rampart::constraints {

/// Quantity that is averaged, one value per application.
enum class Quantity {
    kImpact,         // declared measure of the outcome for the person, under the policy
    kLabel,          // 1 favourable, 0 not: for a granted loan; no policy changes it
    kDecision,       // 1 approve, 0 decline: known exactly, as the policy's P(approve)
    kLoss,           // 1 where decision and label differ
    kDecisionLabel,  // 1 where approved with a favourable label
};
/// What is said of a quantity. All but a mean are of impacts.
enum class Statistic {
    kMean,
    kShare,     // share of impacts that compare with `number` by `relation`: mean(impact <= -100)
    kCvar,      // mean of the lowest share `number` of impacts
    kQuantile,  // smallest impact that a share of at least `number` does not exceed
};
enum class Policy { kCandidate, kReference, kAnchor };
enum class Relation { kEqual, kNotEqual, kLess, kAtMost, kGreater, kAtLeast, kIn };

/// Condition on applications: features X, the label Y, protected attributes T.
struct Condition {
    enum class Kind {
        kAlways,    // holds for all
        kAll,       // every part holds; >= 2 parts
        kAny,       // some part holds; >= 2 parts
        kNot,       // its part does not hold
        kLabel,     // the label is `number`, 0 or 1
        kGroup,     // member of a protected group: relation =, != or in; `values`
        kNumber,    // feature `name` `relation` `number`; never `in`
        kCategory,  // feature or protected attribute `name`: relation =, != or in; `values`
    };
    Kind kind = Kind::kAlways;
    std::vector<Condition> parts{};
    std::string name{};
    Relation relation = Relation::kEqual;
    double number = 0;
    std::vector<std::string> values{};
    bool operator==(const Condition&) const = default;
};

struct Mean {
    Quantity quantity = Quantity::kDecision;
    Policy policy = Policy::kCandidate;
    Condition condition{};
    Statistic statistic = Statistic::kMean;
    Relation relation = Relation::kEqual;  // for a share kLess, kAtMost, kGreater or kAtLeast
    double number = 0;                     // for cvar and quantile in (0, 1)
    bool operator==(const Mean&) const = default;
};

struct Expression {
    enum class Kind {
        kNumber,
        kMean,
        kNegate,
        kAdd,
        kSubtract,
        kMultiply,
        kDivide,  // up to here: 0, 0, 1, 2, 2, 2, 2 parts
        kAbs,     // 1 part
        kMin,
        kMax,  // >= 2 parts
    };
    Kind kind = Kind::kNumber;
    double number = 0;
    Mean mean{};
    std::vector<Expression> parts{};
    bool operator==(const Expression&) const = default;
};

struct Constraint {
    Expression left{};
    Relation relation = Relation::kAtLeast;  // kAtLeast or kAtMost
    Expression right{};
    bool operator==(const Constraint&) const = default;
};

Expression number(double value);  // -0 becomes 0
Expression mean(Quantity quantity, Condition condition = {}, Policy policy = Policy::kCandidate);
/// Returns the share of impacts that compare so with a number, a mean of 0 and 1.
Expression impact_share(Relation relation, double number, Condition condition = {},
                        Policy policy = Policy::kCandidate);
/// Returns the mean of the lowest share `alpha` of impacts, in (0, 1).
Expression cvar(double alpha, Condition condition = {}, Policy policy = Policy::kCandidate);
/// Returns the smallest impact v with P(impact <= v) >= alpha, in (0, 1).
Expression quantile(double alpha, Condition condition = {}, Policy policy = Policy::kCandidate);
Expression operator-(Expression a);
Expression operator+(Expression a, Expression b);
Expression operator-(Expression a, Expression b);
Expression operator*(Expression a, Expression b);
Expression operator/(Expression a, Expression b);
Expression abs(Expression a);
Expression min(std::vector<Expression> parts);
Expression max(std::vector<Expression> parts);
Constraint at_least(Expression left, Expression right);
Constraint at_most(Expression left, Expression right);

Condition in_group(std::string name);
Condition label_is(int label);
Condition compare(std::string feature, Relation relation, double number);
Condition equals(std::string feature, std::string category);
Condition one_of(std::string feature, std::vector<std::string> categories);
Condition all_of(std::vector<Condition> parts);
Condition any_of(std::vector<Condition> parts);
Condition negated(Condition part);

/// Returns whether the condition mentions the label.
bool uses_label(const Condition& condition);
/// Returns whether the average depends on labels, by its quantity or its condition.
bool uses_label(const Mean& mean);

std::string_view to_string(Quantity quantity);    // "decision * label"
std::string_view to_string(Statistic statistic);  // function: "mean", "cvar", "quantile"
std::string_view to_string(Policy policy);
std::string_view to_string(Relation relation);

/// Returns the canonical text of a tree: brackets only where they are needed.
std::string text(const Condition& condition);
std::string text(const Mean& mean);
std::string text(const Expression& expression);
std::string text(const Constraint& constraint);

}  // namespace rampart::constraints
