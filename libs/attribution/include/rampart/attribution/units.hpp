#pragma once

#include <span>
#include <string>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::attribution {

/// Features that are one reason: "payment history" for "pay_*".
struct FeatureGroup {
    std::string name;
    std::vector<std::string> features;  // names; '*' stands for any number of characters
};

/// What is attributed to as one: a feature, or a group of features.
struct Unit {
    std::string name;
    std::vector<size_t> features;  // indices in the policy's schema, ascending, at least one
    bool operator==(const Unit&) const = default;
};

/// Returns for each feature whether any link of the policy reads it: as a rule's feature, in a
/// split of any of its ensembles, in a linear model, or for strata. The others cannot change P.
std::vector<bool> features_read(const model::Policy& policy);

/// Returns the units of the features that the policy reads, by the first feature of each: groups,
/// without what is not read, and every other feature alone. Errors: invalid_argument
/// "bad_feature_group": a pattern without a feature of the schema, a feature in two groups, a name
/// that is empty or given twice.
base::Result<std::vector<Unit>> units_of(const model::Policy& policy,
                                         std::span<const FeatureGroup> groups = {});

/// Returns `row` with the unit's features as `from` has them.
std::vector<float> restored(std::span<const float> row, std::span<const float> from,
                            const Unit& unit);

/// Returns whether the two rows differ in one of the unit's features; missing equals missing.
bool differs(std::span<const float> a, std::span<const float> b, const Unit& unit);

}  // namespace rampart::attribution
