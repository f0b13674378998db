#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/dataset.hpp"

namespace rampart::dataset {

/// Shares of the rows; they sum to 1, train > 0.
struct SplitFractions {
    double train = 0.6, validation = 0.2, test = 0.2;
};

/// Parses "60/20/20": per cent for train, validation and test, summing to 100.
base::Result<SplitFractions> parse_split(std::string_view text);

/// Row numbers, ascending; every row is in exactly one part.
struct Split {
    std::vector<uint32_t> train, validation, test;
    /// Returns the rows of "train", "validation" or "test". Fails with not_found.
    base::Result<std::vector<uint32_t>> part(std::string_view name) const;
};

/// Splits at random (by the seed) and stratified: each (label, group), or for targets each
/// (tenth of the rows by target, group), is divided by the fractions to within a row or two, and
/// so is the whole table.
Split split_rows(const Dataset& data, const SplitFractions& fractions, uint64_t seed);

}  // namespace rampart::dataset
