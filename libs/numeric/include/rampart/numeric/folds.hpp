#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rampart::numeric {

/// Returns the fold of every row, [n] 0 … folds-1, drawn by seed. Rows of one stratum are dealt out
/// evenly, so that a stratum of at least two rows has rows outside of every fold. `stratum`: [n],
/// >= 0.
std::vector<uint32_t> stratified_folds(std::span<const uint32_t> stratum, size_t folds,
                                       uint64_t seed);

}  // namespace rampart::numeric
