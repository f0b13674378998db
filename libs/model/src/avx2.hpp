#pragma once

#include <cstddef>
#include <cstdint>

#include "cut_columns.hpp"
#include "rampart/model/instruction_set.hpp"

/// Helpers of the AVX2 code paths. Each function is compiled for AVX2 by an attribute, so that the
/// rest of the program does not need it.
#if defined(__x86_64__)
#include <immintrin.h>

namespace rampart::model {

RAMPART_AVX2 inline __m256i load(const void* at) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

RAMPART_AVX2 inline void store(void* at, __m256i bytes) {
    _mm256_storeu_si256(static_cast<__m256i*>(at), bytes);
}

/// Returns how many of 16 increasing numbers lie below x (equal in all lanes); NaN: none.
RAMPART_AVX2 inline uint32_t count_below(__m256 x, const float* sixteen) {
    const int a = _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_loadu_ps(sixteen), _CMP_GT_OQ));
    const int b = _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_loadu_ps(sixteen + 8), _CMP_GT_OQ));
    // the numbers increase, so that the comparisons that hold come first
    return static_cast<uint32_t>(__builtin_ctz(~static_cast<unsigned>(a | b << 8)));
}

/// Returns a value's byte (NaN: 0) from its column's ladder.
RAMPART_AVX2 inline uint8_t byte_of(__m256 x, const float* ladder) {
    const uint32_t rung = count_below(x, ladder);
    return static_cast<uint8_t>(kRung * rung + count_below(x, ladder + kRung + kRung * rung));
}

}  // namespace rampart::model
#endif
