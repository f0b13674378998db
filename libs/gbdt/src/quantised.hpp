#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/model/instruction_set.hpp"

/// Gradients as integers of 14 bits, so that sums are exact in any order and many fit a register.
///
///   q_g = floor(g · 2^a + u) + 2^13,   q_h = floor(h · 2^b + u'),   u, u' in [0, 1)
///
/// with the largest a, b for which the row of the greatest |g| and h fit. u and u' are hashes of
/// the row and the iteration (stochastic rounding: right on average, however small a row's gradient
/// is beside the greatest). Powers of two: what fits 14 bits is kept as it is. Sums decide which
/// splits are made; the values of leaves come from the gradients themselves.
namespace rampart::gbdt {

constexpr uint32_t kBits = 14;
constexpr uint32_t kBias = 1u << (kBits - 1);
constexpr uint32_t kLargestUnit = (1u << kBits) - 1;

/// A row of a leaf with its gradient; moves through the tree as one.
struct Entry {
    uint32_t row;
    uint32_t q;  // q_g in the lower 14 bits, q_h above
};

struct Scale {
    double g = 0, h = 0;  // what one unit is worth
};

/// Greatest |g| and h; NaN or an infinity if there is one.
struct Extent {
    float g = 0, h = 0;
    float least_h = 0;  // the smallest h
};
Extent extent_of(std::span<const float> g, std::span<const float> h, model::InstructionSet set);

Scale scale_for(const Extent& extent);

/// entries[i] of row first + i.
void quantise(std::span<const float> g, std::span<const float> h, const Scale& scale, uint32_t seed,
              size_t first, std::span<Entry> entries, model::InstructionSet set);

}  // namespace rampart::gbdt
