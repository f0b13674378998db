#include "quantised.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace rampart::gbdt {
namespace {

RAMPART_INLINE Extent extent_body(const float* g, const float* h, size_t n) {
    // the bits of positive floats as integers have the same order, and NaN is above all
    uint32_t most_g = 0, most_h = 0;
    float least_h = h[0];
    for (size_t i = 0; i < n; ++i) {
        const uint32_t a = std::bit_cast<uint32_t>(g[i]) & 0x7fffffffu;
        const uint32_t b = std::bit_cast<uint32_t>(h[i]) & 0x7fffffffu;
        most_g = a > most_g ? a : most_g;
        most_h = b > most_h ? b : most_h;
        least_h = h[i] < least_h ? h[i] : least_h;
    }
    return {std::bit_cast<float>(most_g), std::bit_cast<float>(most_h), least_h};
}

Extent extent_portable(const float* g, const float* h, size_t n) { return extent_body(g, h, n); }
RAMPART_AVX2 Extent extent_avx2(const float* g, const float* h, size_t n) {
    return extent_body(g, h, n);
}

/// Hashes fast and well enough (Wellons 2018, lowbias32).
RAMPART_INLINE uint32_t mix32(uint32_t x) {
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

RAMPART_INLINE void quantise_body(const float* g, const float* h, float by_g, float by_h,
                                  uint32_t seed, uint32_t first, Entry* entries, size_t n) {
    // spacing of floats between 2^13 and 2^14
    constexpr float kUnit = 1.0f / 1024;
    for (size_t i = 0; i < n; ++i) {
        const uint32_t row = first + static_cast<uint32_t>(i);
        const uint32_t bits = mix32(row ^ seed);
        const float u = static_cast<float>(static_cast<int32_t>(bits & 1023)) * kUnit;
        const float v = static_cast<float>(static_cast<int32_t>(bits >> 22)) * kUnit;
        // above zero, so that truncation rounds down
        const auto a = static_cast<int32_t>(g[i] * by_g + (u + static_cast<float>(kBias)));
        const auto b = static_cast<int32_t>(h[i] * by_h + v);
        entries[i] = {row, static_cast<uint32_t>(a) | static_cast<uint32_t>(b) << kBits};
    }
}

void quantise_portable(const float* g, const float* h, float by_g, float by_h, uint32_t seed,
                       uint32_t first, Entry* entries, size_t n) {
    quantise_body(g, h, by_g, by_h, seed, first, entries, n);
}
RAMPART_AVX2 void quantise_avx2(const float* g, const float* h, float by_g, float by_h,
                                uint32_t seed, uint32_t first, Entry* entries, size_t n) {
    quantise_body(g, h, by_g, by_h, seed, first, entries, n);
}

/// Returns the largest power of two that scales `largest` to at most `limit`.
double power_for(float largest, double limit) {
    if (!(largest > 0)) return 1;
    int exponent = 0;
    std::frexp(limit / static_cast<double>(largest), &exponent);
    // beyond the range of a float nothing is gained
    return std::ldexp(1.0, std::clamp(exponent - 1, -120, 120));
}

}  // namespace

Extent extent_of(std::span<const float> g, std::span<const float> h, model::InstructionSet set) {
    const auto run = set == model::InstructionSet::kAvx2 ? extent_avx2 : extent_portable;
    return g.empty() ? Extent{} : run(g.data(), h.data(), g.size());
}

Scale scale_for(const Extent& extent) {
    // a float near the bias has ten bits after the point: one unit is
    // reserved for the rounding
    return {1 / power_for(extent.g, kBias - 2), 1 / power_for(extent.h, kLargestUnit - 1)};
}

void quantise(std::span<const float> g, std::span<const float> h, const Scale& scale, uint32_t seed,
              size_t first, std::span<Entry> entries, model::InstructionSet set) {
    const auto run = set == model::InstructionSet::kAvx2 ? quantise_avx2 : quantise_portable;
    run(g.data(), h.data(), static_cast<float>(1 / scale.g), static_cast<float>(1 / scale.h), seed,
        static_cast<uint32_t>(first), entries.data(), entries.size());
}

}  // namespace rampart::gbdt
