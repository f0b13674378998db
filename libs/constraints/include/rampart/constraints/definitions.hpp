#pragma once

#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "rampart/constraints/expression.hpp"

/// Well-known definitions as constraints. Groups are names of protected groups; `allowed` >= 0 is
/// the allowed difference or change, in the units of what is compared. parse() reads each by its
/// name: equal_impact("sex=F", "sex=M", 5).
namespace rampart::constraints {

/// ELF (Weber et al. 2022), eq. 2: the average impact in the group is at least `tau`.
Constraint impact_at_least(const std::string& group, double tau);
/// Liu et al. 2018, long-term improvement: at most `allowed` below that of the reference.
Constraint long_term_improvement(const std::string& group, double allowed = 0);
/// Long-term stagnation: the average impact changes by at most `allowed` either way.
Constraint long_term_stagnation(const std::string& group, double allowed);
/// Long-term decline: the average impact falls by at least `by`.
Constraint long_term_decline(const std::string& group, double by = 0);
/// |E_A - E_B| <= allowed, of impacts.
Constraint equal_impact(const std::string& a, const std::string& b, double allowed);

/// The mean of the lowest share `alpha` of impacts in the group (CVaR) is at least `tau`; alpha in
/// (0, 1).
Constraint tail_at_least(const std::string& group, double alpha, double tau);
/// The alpha-quantile of the impacts in the group is at least `tau`.
Constraint quantile_at_least(const std::string& group, double alpha, double tau);

/// ELF, eq. 20: share of correct decisions.
Constraint accuracy_at_least(double share);
/// Statistical parity: approval rates.
Constraint approval_rate_gap(const std::string& a, const std::string& b, double allowed);
/// Approval rates as a ratio: the four-fifths rule with share = 0.8.
Constraint approval_rate_ratio(const std::string& a, const std::string& b, double share);
/// ELF, eq. 21, predictive equality: approvals among applicants who would not repay.
Constraint false_positive_rate_gap(const std::string& a, const std::string& b, double allowed);
/// Equal opportunity: declines among applicants who would repay.
Constraint false_negative_rate_gap(const std::string& a, const std::string& b, double allowed);

/// A definition as a text calls it: its name, the groups in quotes, for a tail its share of people,
/// then the number.
struct Definition {
    std::string_view name;
    std::string_view usage;                               // example of a call
    size_t groups = 0;                                    // 0 … 2, all different
    double lowest = -std::numeric_limits<double>::max();  // smallest and largest number
    double highest = std::numeric_limits<double>::max();
    bool default_is_zero = false;  // whether the number may be left out
    Constraint (*make)(std::span<const std::string> groups, double number, double alpha) = nullptr;
    bool tail = false;  // whether alpha, in (0, 1), stands before the number
};
/// Returns all definitions of this header, in its order.
std::span<const Definition> definitions();

}  // namespace rampart::constraints
