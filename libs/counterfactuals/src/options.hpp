#pragma once

#include <span>
#include <vector>

#include "rampart/counterfactuals/changes.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::counterfactuals {

/// A value that a feature may take.
struct Option {
    float value = 0;
    double distance = 0;  // > 0
};

/// What one declared change can do for an applicant.
struct Move {
    size_t feature = 0;             // index in the policy's schema
    std::vector<Option> options{};  // nearest first, at least one
};

/// Returns the changes that can move P, by their nearest option; ties in the order of the file. Of
/// the values between two neighbouring thresholds only the nearest on each side is there, unless P
/// depends on the feature by more than thresholds.
std::vector<Move> moves_of(const DeclaredChanges& declared, const model::Policy& policy,
                           std::span<const float> row);

/// Returns the declared features that P depends on and the row does not have, ascending.
std::vector<size_t> missing_in(std::span<const float> row, const DeclaredChanges& declared,
                               const model::Policy& policy);

}  // namespace rampart::counterfactuals
