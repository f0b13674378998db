#include "rampart/constraints/definitions.hpp"

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

}  // namespace rampart::constraints
