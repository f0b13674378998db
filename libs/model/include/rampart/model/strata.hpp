#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rampart/dataset/feature_schema.hpp"

namespace rampart::model {

/// Strata of applicants by one feature. Every value, the missing one among them, is in one stratum.
struct Strata {
    uint32_t feature = 0;  // index in the policy's schema
    uint32_t count = 1;    // >= 1; each has a value, or is that of the missing ones
    /// Numeric feature: increasing, finite. Value x is in stratum i where cuts[i - 1] <= x <
    /// cuts[i].
    std::vector<float> cuts = {};
    std::vector<uint32_t> of_category = {};  // categorical feature: stratum by category code
    uint32_t missing = 0;                    // stratum of a missing value

    size_t of(float value) const;
    bool operator==(const Strata&) const = default;
};

/// Returns what is wrong with the strata of a schema's feature; nullopt: nothing.
std::optional<std::string> fault_of(const Strata& strata, const dataset::FeatureSchema& schema);

/// Returns a name for each stratum: "income < 20000", "20000 <= income < 50000", "region = a, b",
/// "income >= 50000 or missing". Requires strata without a fault.
std::vector<std::string> names_of(const Strata& strata, const dataset::FeatureSchema& schema);

}  // namespace rampart::model
