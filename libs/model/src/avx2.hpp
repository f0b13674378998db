#pragma once

#include <cstddef>
#include <cstdint>

#include "cut_columns.hpp"
#include "rampart/model/instruction_set.hpp"

/// What the AVX2 paths share. Functions are compiled for AVX2 one by one, so that nothing else of
/// the program needs it.
#if defined(__x86_64__)
#include <immintrin.h>

namespace rampart::model {

RAMPART_AVX2 inline __m256i load(const void* at) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

RAMPART_AVX2 inline void store(void* at, __m256i bytes) {
    _mm256_storeu_si256(static_cast<__m256i*>(at), bytes);
}

/// How many of sixteen increasing numbers lie below x (the same in every place); NaN: none.
RAMPART_AVX2 inline uint32_t count_below(__m256 x, const float* sixteen) {
    const int a = _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_loadu_ps(sixteen), _CMP_GT_OQ));
    const int b = _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_loadu_ps(sixteen + 8), _CMP_GT_OQ));
    // increasing, so that the comparisons that hold come first
    return static_cast<uint32_t>(__builtin_ctz(~static_cast<unsigned>(a | b << 8)));
}

/// A value's byte (NaN: 0) by the ladder of its column.
RAMPART_AVX2 inline uint8_t byte_of(__m256 x, const float* ladder) {
    const uint32_t rung = count_below(x, ladder);
    return static_cast<uint8_t>(kRung * rung + count_below(x, ladder + kRung + kRung * rung));
}

}  // namespace rampart::model
#endif
