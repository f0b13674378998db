#pragma once

#include "rampart/candidate_selection/safety_objective.hpp"

namespace rampart::reference {

/// What the ELF paper's candidate selection (Weber et al. 2022, Algorithms 2 and 4) minimises and
/// tests, in the form that candidate_selection::SafetyObjective takes.

/// Returns importance sampling against a constant, as the paper prints it:
/// g-hat = tau - (pi(A)/p(A)) I. `impact`: declared [a, b], for the range of g-hat over all
/// policies. invalid_argument "bad_objective": a record without impact, or of propensity 0.
base::Result<candidate_selection::Constraint> importance_constraint(
    const ope::LoggedFeedback& feedback, const ope::Group& group, stats::Range impact, double tau,
    double test_units, double delta);

/// Returns accuracy of at least `floor` over all rows: g-hat = floor - P(the decision is the
/// label).
candidate_selection::Constraint accuracy_constraint(std::span<const uint8_t> label,
                                                    std::span<const double> reference, double floor,
                                                    double test_units, double delta);

/// Returns the probability of a decision that is not the label.
candidate_selection::Loss error_rate(std::span<const uint8_t> label);

}  // namespace rampart::reference
