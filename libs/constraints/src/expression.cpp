#include "rampart/constraints/expression.hpp"

#include <algorithm>
#include <array>

namespace rampart::constraints {
namespace {

Expression combine(Expression::Kind kind, std::vector<Expression> parts) {
    Expression out;
    out.kind = kind;
    out.parts = std::move(parts);
    return out;
}

Condition combine(Condition::Kind kind, std::vector<Condition> parts) {
    Condition out;
    out.kind = kind;
    out.parts = std::move(parts);
    return out;
}

Expression of_impacts(Statistic statistic, Relation relation, double number, Condition condition,
                      Policy policy) {
    Expression out = mean(Quantity::kImpact, std::move(condition), policy);
    out.mean.statistic = statistic;
    out.mean.relation = relation;
    out.mean.number = number + 0.0;
    return out;
}

}  // namespace

Expression number(double value) {
    Expression out;
    out.number = value + 0.0;
    return out;
}

Expression mean(Quantity quantity, Condition condition, Policy policy) {
    Expression out;
    out.kind = Expression::Kind::kMean;
    out.mean = {quantity, policy, std::move(condition)};
    return out;
}

Expression impact_share(Relation relation, double number, Condition condition, Policy policy) {
    return of_impacts(Statistic::kShare, relation, number, std::move(condition), policy);
}
Expression cvar(double alpha, Condition condition, Policy policy) {
    return of_impacts(Statistic::kCvar, Relation::kEqual, alpha, std::move(condition), policy);
}
Expression quantile(double alpha, Condition condition, Policy policy) {
    return of_impacts(Statistic::kQuantile, Relation::kEqual, alpha, std::move(condition), policy);
}

Expression operator-(Expression a) { return combine(Expression::Kind::kNegate, {std::move(a)}); }
Expression operator+(Expression a, Expression b) {
    return combine(Expression::Kind::kAdd, {std::move(a), std::move(b)});
}
Expression operator-(Expression a, Expression b) {
    return combine(Expression::Kind::kSubtract, {std::move(a), std::move(b)});
}
Expression operator*(Expression a, Expression b) {
    return combine(Expression::Kind::kMultiply, {std::move(a), std::move(b)});
}
Expression operator/(Expression a, Expression b) {
    return combine(Expression::Kind::kDivide, {std::move(a), std::move(b)});
}
Expression abs(Expression a) { return combine(Expression::Kind::kAbs, {std::move(a)}); }
Expression min(std::vector<Expression> parts) {
    return combine(Expression::Kind::kMin, std::move(parts));
}
Expression max(std::vector<Expression> parts) {
    return combine(Expression::Kind::kMax, std::move(parts));
}
Constraint at_least(Expression left, Expression right) {
    return {std::move(left), Relation::kAtLeast, std::move(right)};
}
Constraint at_most(Expression left, Expression right) {
    return {std::move(left), Relation::kAtMost, std::move(right)};
}

Condition in_group(std::string name) {
    Condition out;
    out.kind = Condition::Kind::kGroup;
    out.values = {std::move(name)};
    return out;
}

Condition label_is(int label) {
    Condition out;
    out.kind = Condition::Kind::kLabel;
    out.number = label;
    return out;
}

Condition compare(std::string feature, Relation relation, double number) {
    Condition out;
    out.kind = Condition::Kind::kNumber;
    out.name = std::move(feature);
    out.relation = relation;
    out.number = number + 0.0;
    return out;
}

Condition equals(std::string feature, std::string category) {
    Condition out;
    out.kind = Condition::Kind::kCategory;
    out.name = std::move(feature);
    out.values = {std::move(category)};
    return out;
}

Condition one_of(std::string feature, std::vector<std::string> categories) {
    Condition out;
    out.kind = Condition::Kind::kCategory;
    out.name = std::move(feature);
    out.relation = Relation::kIn;
    out.values = std::move(categories);
    return out;
}

Condition all_of(std::vector<Condition> parts) {
    return combine(Condition::Kind::kAll, std::move(parts));
}
Condition any_of(std::vector<Condition> parts) {
    return combine(Condition::Kind::kAny, std::move(parts));
}
Condition negated(Condition part) { return combine(Condition::Kind::kNot, {std::move(part)}); }

bool uses_label(const Condition& condition) {
    if (condition.kind == Condition::Kind::kLabel) return true;
    return std::any_of(condition.parts.begin(), condition.parts.end(),
                       [](const Condition& part) { return uses_label(part); });
}

bool uses_label(const Mean& mean) {
    return mean.quantity == Quantity::kLabel || mean.quantity == Quantity::kLoss ||
           mean.quantity == Quantity::kDecisionLabel || uses_label(mean.condition);
}

std::string_view to_string(Quantity quantity) {
    constexpr std::array<std::string_view, 5> kNames{"impact", "label", "decision", "loss",
                                                     "decision * label"};
    return kNames[static_cast<size_t>(quantity)];
}

std::string_view to_string(Statistic statistic) {
    constexpr std::array<std::string_view, 4> kNames{"mean", "mean", "cvar", "quantile"};
    return kNames[static_cast<size_t>(statistic)];
}

std::string_view to_string(Policy policy) {
    constexpr std::array<std::string_view, 3> kNames{"candidate", "reference", "anchor"};
    return kNames[static_cast<size_t>(policy)];
}

std::string_view to_string(Relation relation) {
    constexpr std::array<std::string_view, 7> kNames{"=", "!=", "<", "<=", ">", ">=", "in"};
    return kNames[static_cast<size_t>(relation)];
}

}  // namespace rampart::constraints
