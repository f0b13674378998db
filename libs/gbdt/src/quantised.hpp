#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/model/instruction_set.hpp"

/// Gradients as 14-bit integers, so that sums are exact in any order and many fit a register.
///
///   q_g = floor(g · 2^a + u) + 2^13,   q_h = floor(h · 2^b + u'),   u, u' in [0, 1)
///
/// with the largest a, b for which the rows of largest |g| and h fit. u and u' are hashes of row
/// and iteration (stochastic rounding: unbiased even if a row's gradient is small relative to the
/// largest). Scales are powers of two: values that fit 14 bits are exact. The sums choose the
/// splits; leaf values are computed from the unrounded gradients.
namespace rampart::gbdt {

constexpr uint32_t kBits = 14;
constexpr uint32_t kBias = 1u << (kBits - 1);
constexpr uint32_t kLargestUnit = (1u << kBits) - 1;

/// A row of a leaf with its gradient; moved through the tree as one unit.
struct Entry {
    uint32_t row;
    uint32_t q;  // q_g in the lower 14 bits, q_h above
};

struct Scale {
    double g = 0, h = 0;  // value of one unit
};

/// Largest |g| and h; NaN or infinite if any value is.
struct Extent {
    float g = 0, h = 0;
    float least_h = 0;  // the smallest h
};
Extent extent_of(std::span<const float> g, std::span<const float> h, model::InstructionSet set);

Scale scale_for(const Extent& extent);

/// Computes entries[i] for row first + i.
void quantise(std::span<const float> g, std::span<const float> h, const Scale& scale, uint32_t seed,
              size_t first, std::span<Entry> entries, model::InstructionSet set);

}  // namespace rampart::gbdt
