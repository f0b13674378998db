#include "logistic.hpp"

#include <bit>

#include "rampart/model/instruction_set.hpp"

namespace rampart::gbdt {
namespace {

/// Returns exp(x) for -87 <= x <= 0: x = n·ln 2 + r, |r| <= ln 2 / 2, exp(r) by its Taylor series
/// to r^7.
RAMPART_INLINE float exp_of(float x) {
    constexpr float kLog2E = 1.44269504f;
    // ln 2 in two parts, so that n times the first is exact
    constexpr float kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
    constexpr float kRound = 12582912.0f;  // 1.5·2^23: adding it rounds to integers
    const float shifted = x * kLog2E + kRound;
    const float n = shifted - kRound;
    const float r = (x - n * kLn2High) - n * kLn2Low;
    float sum = 1.0f / 5040;
    sum = sum * r + 1.0f / 720;
    sum = sum * r + 1.0f / 120;
    sum = sum * r + 1.0f / 24;
    sum = sum * r + 1.0f / 6;
    sum = sum * r + 0.5f;
    sum = sum * r + 1.0f;
    sum = sum * r + 1.0f;
    // n is in the lowest bits of `shifted`
    const uint32_t power = (std::bit_cast<uint32_t>(shifted) + 127u) << 23;
    return sum * std::bit_cast<float>(power);
}

template <bool kWeighted>
RAMPART_INLINE void gradients_body(const double* scores, const uint8_t* labels,
                                   const float* weights, size_t n, float* g, float* h) {
    constexpr float kLeastCurvature = 1e-16f;
    for (size_t i = 0; i < n; ++i) {
        const auto f = static_cast<float>(scores[i]);
        const float size = f < 0 ? -f : f;
        const float e = exp_of(size < 87.0f ? -size : -87.0f);
        const float small = e / (1.0f + e);  // the smaller of p and 1 - p
        const float curvature = small * (1.0f - small);
        const float w = kWeighted ? weights[i] : 1.0f;
        const float y = static_cast<float>(static_cast<int32_t>(labels[i]));
        const float up = f < 0 ? 0.0f : 1.0f;
        g[i] = w * ((up - y) + (f < 0 ? small : -small));
        h[i] = w * (curvature > kLeastCurvature ? curvature : kLeastCurvature);
    }
}

using Gradients = void (*)(const double*, const uint8_t*, const float*, size_t, float*, float*);

template <bool kWeighted>
void gradients_portable(const double* scores, const uint8_t* labels, const float* weights, size_t n,
                        float* g, float* h) {
    gradients_body<kWeighted>(scores, labels, weights, n, g, h);
}
template <bool kWeighted>
RAMPART_AVX2 void gradients_avx2(const double* scores, const uint8_t* labels, const float* weights,
                                 size_t n, float* g, float* h) {
    gradients_body<kWeighted>(scores, labels, weights, n, g, h);
}

}  // namespace

void logistic_gradients(const double* scores, const uint8_t* labels, const float* weights, size_t n,
                        float* g, float* h) {
    const bool avx2 = model::fastest_supported() == model::InstructionSet::kAvx2;
    Gradients run = avx2 ? gradients_avx2<false> : gradients_portable<false>;
    if (weights != nullptr) run = avx2 ? gradients_avx2<true> : gradients_portable<true>;
    run(scores, labels, weights, n, g, h);
}

}  // namespace rampart::gbdt
