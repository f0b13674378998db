#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/attribution/probability.hpp"
#include "rampart/attribution/reference_set.hpp"
#include "rampart/attribution/units.hpp"

/// Interventional Shapley values of P(approve), the whole of it, against a reference set.
///
/// For one reference row r the value of a set S of units is P(x with the features of S as r has
/// them): S is what is restored. Values are averaged over the rows of the set, equally weighted
/// (Lundberg et al. 2020, "From local explanations to global understanding with explainable AI for
/// trees", the interventional variant, with P instead of a tree's score). Units in which x and r do
/// not differ have no value against r.
namespace rampart::attribution {

inline constexpr size_t kExactUnits = 12;  // up to so many that differ are enumerated
inline constexpr size_t kPairs = 32;       // pairs of permutations for each other row

struct ShapleyValues {
    /// [units]: by how much the unit's values lower P, compared with the set; negative: raise it.
    /// They sum to reference - p, to rounding, exact or not.
    std::vector<double> lowered{};
    std::vector<double> error{};  // [units] standard error; 0 where exact
    double p = 0;                 // P(x)
    double reference = 0;         // mean P of the set
    bool exact = true;            // no row needed permutations

    /// Whether the unit surely lowers P: by more than rounding, and than two standard errors.
    bool lowers(size_t unit) const;
};

/// Computes the values: exactly against rows that differ in at most kExactUnits units, with 2^units
/// evaluations of P; otherwise by kPairs seeded permutations, each with its reverse (antithetic).
ShapleyValues shapley_values(const Probability& p, std::span<const float> row,
                             const ReferenceSet& set, std::span<const Unit> units, uint64_t seed);

}  // namespace rampart::attribution
