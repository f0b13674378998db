#include "rampart/constraints/definitions.hpp"

#include <array>

namespace rampart::constraints {
namespace {

Expression impact_of(const std::string& group, Policy policy = Policy::kCandidate) {
    return mean(Quantity::kImpact, in_group(group), policy);
}

Expression change_of_impact(const std::string& group) {
    return impact_of(group) - impact_of(group, Policy::kReference);
}

/// Returns the mean of decisions in a group, or among its members with a label.
Expression approval_rate(const std::string& group) {
    return mean(Quantity::kDecision, in_group(group));
}
Expression approval_rate(const std::string& group, int label) {
    return mean(Quantity::kDecision, all_of({in_group(group), label_is(label)}));
}

}  // namespace

Constraint impact_at_least(const std::string& group, double tau) {
    return at_least(impact_of(group), number(tau));
}

Constraint long_term_improvement(const std::string& group, double allowed) {
    return at_least(change_of_impact(group), number(-allowed));
}

Constraint long_term_stagnation(const std::string& group, double allowed) {
    return at_most(abs(change_of_impact(group)), number(allowed));
}

Constraint long_term_decline(const std::string& group, double by) {
    return at_most(change_of_impact(group), number(-by));
}

Constraint equal_impact(const std::string& a, const std::string& b, double allowed) {
    return at_most(abs(impact_of(a) - impact_of(b)), number(allowed));
}

Constraint tail_at_least(const std::string& group, double alpha, double tau) {
    return at_least(cvar(alpha, in_group(group)), number(tau));
}

Constraint quantile_at_least(const std::string& group, double alpha, double tau) {
    return at_least(quantile(alpha, in_group(group)), number(tau));
}

Constraint accuracy_at_least(double share) {
    return at_least(number(1) - mean(Quantity::kLoss), number(share));
}

Constraint approval_rate_gap(const std::string& a, const std::string& b, double allowed) {
    return at_most(abs(approval_rate(a) - approval_rate(b)), number(allowed));
}

Constraint approval_rate_ratio(const std::string& a, const std::string& b, double share) {
    // multiplied out: a quotient would spend delta on showing that the divisor is not 0
    return at_least(approval_rate(a), number(share) * approval_rate(b));
}

Constraint false_positive_rate_gap(const std::string& a, const std::string& b, double allowed) {
    return at_most(abs(approval_rate(a, 0) - approval_rate(b, 0)), number(allowed));
}

Constraint false_negative_rate_gap(const std::string& a, const std::string& b, double allowed) {
    // 1 - approvals: the ones cancel
    return at_most(abs(approval_rate(a, 1) - approval_rate(b, 1)), number(allowed));
}

std::span<const Definition> definitions() {
    using Groups = std::span<const std::string>;
    constexpr double kMost = std::numeric_limits<double>::max();
    static constexpr auto kDefinitions = std::to_array<Definition>({
        {"impact_at_least", R"(impact_at_least("sex=F", 5))", 1, -kMost, kMost, false,
         [](Groups g, double x, double) { return impact_at_least(g[0], x); }},
        {"long_term_improvement", R"(long_term_improvement("sex=F"))", 1, 0, kMost, true,
         [](Groups g, double x, double) { return long_term_improvement(g[0], x); }},
        {"long_term_stagnation", R"(long_term_stagnation("sex=F", 2))", 1, 0, kMost, false,
         [](Groups g, double x, double) { return long_term_stagnation(g[0], x); }},
        {"long_term_decline", R"(long_term_decline("sex=F", 1))", 1, 0, kMost, true,
         [](Groups g, double x, double) { return long_term_decline(g[0], x); }},
        {"equal_impact", R"(equal_impact("sex=F", "sex=M", 5))", 2, 0, kMost, false,
         [](Groups g, double x, double) { return equal_impact(g[0], g[1], x); }},
        {"tail_at_least", R"(tail_at_least("sex=F", 0.1, -100))", 1, -kMost, kMost, false,
         [](Groups g, double x, double alpha) { return tail_at_least(g[0], alpha, x); }, true},
        {"quantile_at_least", R"(quantile_at_least("sex=F", 0.5, 0))", 1, -kMost, kMost, false,
         [](Groups g, double x, double alpha) { return quantile_at_least(g[0], alpha, x); }, true},
        {"accuracy_at_least", R"(accuracy_at_least(0.8))", 0, 0, 1, false,
         [](Groups, double x, double) { return accuracy_at_least(x); }},
        {"approval_rate_gap", R"(approval_rate_gap("sex=F", "sex=M", 0.05))", 2, 0, 1, false,
         [](Groups g, double x, double) { return approval_rate_gap(g[0], g[1], x); }},
        {"approval_rate_ratio", R"(approval_rate_ratio("sex=F", "sex=M", 0.8))", 2, 0, 1, false,
         [](Groups g, double x, double) { return approval_rate_ratio(g[0], g[1], x); }},
        {"false_positive_rate_gap", R"(false_positive_rate_gap("sex=F", "sex=M", 0.1))", 2, 0, 1,
         false, [](Groups g, double x, double) { return false_positive_rate_gap(g[0], g[1], x); }},
        {"false_negative_rate_gap", R"(false_negative_rate_gap("sex=F", "sex=M", 0.1))", 2, 0, 1,
         false, [](Groups g, double x, double) { return false_negative_rate_gap(g[0], g[1], x); }},
    });
    return kDefinitions;
}

}  // namespace rampart::constraints
