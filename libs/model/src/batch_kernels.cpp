#include "batch_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "rampart/base/check.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#define RAMPART_AVX2 __attribute__((target("avx2")))
#endif

namespace rampart::model {
namespace {

void bin_portable(const CutColumns& all, const CutColumn& column, const float* x, uint8_t* out) {
    const auto cuts = all.cuts(column);
    const auto missing = static_cast<uint8_t>(column.default_left ? 0 : column.count);
    for (size_t i = 0; i < kBlock; ++i) {
        // halves the range without branches: `from` counts the cuts known to be below x
        const float* from = cuts.data();
        for (size_t n = cuts.size(); n > 0; n -= (n + 1) / 2) {
            const size_t half = (n + 1) / 2;
            from += from[half - 1] < x[i] ? half : 0;
        }
        out[i] = std::isnan(x[i]) ? missing : static_cast<uint8_t>(from - cuts.data());
    }
}

void member_portable(const MemberTest& shared, uint8_t* arena) {
    const MemberTest test = shared;  // of its own, so that no write to the arena can change it
    const uint8_t* index = arena + test.index;
    const uint8_t* bit = arena + test.bit;
    uint8_t* out = arena + test.out;
    const int keep = test.first != 0 ? 255 : 0;
    for (size_t i = 0; i < kBlock; ++i) {
        const int known = (index[i] >> 7) - 1;  // all bits, or none for an index of 0x80
        const int word = test.bits[index[i] & 15] & bit[i] & known;
        out[i] = static_cast<uint8_t>(((word != 0) - 1) & (out[i] | keep));
    }
}

void select_portable(const BlockNode* nodes, size_t count, uint8_t* arena, uint32_t out) {
    for (size_t n = 0; n < count; ++n, out += kBlock) {
        const BlockNode& node = nodes[n];
        const uint8_t* column = arena + node.column;
        const uint8_t* left = arena + node.left;
        const uint8_t* right = arena + node.right;
        uint8_t picked[kBlock];
        for (size_t i = 0; i < kBlock; ++i) {
            const auto go_left = static_cast<uint8_t>(column[i] <= node.cut ? 255 : 0);
            picked[i] = static_cast<uint8_t>((left[i] & go_left) | (right[i] & ~go_left));
        }
        std::copy_n(picked, kBlock, arena + out);
    }
}

constexpr BatchKernels kPortableKernels{bin_portable, member_portable, select_portable};

#if defined(__x86_64__)

RAMPART_AVX2 inline __m256i load(const uint8_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}
RAMPART_AVX2 inline void store(uint8_t* at, __m256i bytes) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), bytes);
}

/// A comparison that says of NaN what the column wants: above every cut, or above none.
template <bool kMissingLeft>
RAMPART_AVX2 inline __m256 above(__m256 x, __m256 cut) {
    return _mm256_cmp_ps(x, cut, kMissingLeft ? _CMP_GT_OQ : _CMP_NLE_UQ);
}

/// Few cuts: eight rows in a register, cut after cut.
template <bool kMissingLeft>
RAMPART_AVX2 void bin_few(const float* cuts, uint32_t count, const float* x, uint8_t* out) {
    for (size_t i = 0; i < kBlock; i += 32) {
        __m256i below[4] = {};
        const __m256 rows[4] = {_mm256_loadu_ps(x + i), _mm256_loadu_ps(x + i + 8),
                                _mm256_loadu_ps(x + i + 16), _mm256_loadu_ps(x + i + 24)};
        for (uint32_t c = 0; c < count; ++c) {
            const __m256 cut = _mm256_broadcast_ss(cuts + c);
            for (size_t k = 0; k < 4; ++k) {
                const __m256i is_above = _mm256_castps_si256(above<kMissingLeft>(rows[k], cut));
                below[k] = _mm256_sub_epi32(below[k], is_above);
            }
        }
        // packing works within 128-bit lanes; the permutation puts fours of rows back in order
        const __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(below[0], below[1]),
                                                   _mm256_packs_epi32(below[2], below[3]));
        store(out + i,
              _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
    }
}

template <bool kMissingLeft>
RAMPART_AVX2 inline uint32_t count_above(__m256 x, const float* sixteen) {
    const int a = _mm256_movemask_ps(above<kMissingLeft>(x, _mm256_loadu_ps(sixteen)));
    const int b = _mm256_movemask_ps(above<kMissingLeft>(x, _mm256_loadu_ps(sixteen + 8)));
    // sorted, so that the comparisons that hold come first
    return static_cast<uint32_t>(__builtin_ctz(~static_cast<unsigned>(a | b << 8)));
}

/// Many cuts: one row at a time against sixteen rungs, then against the sixteen cuts that follow.
template <bool kMissingLeft>
RAMPART_AVX2 void bin_many(const float* ladder, const float* x, uint8_t* out) {
    for (size_t i = 0; i < kBlock; ++i) {
        const __m256 row = _mm256_broadcast_ss(x + i);
        const uint32_t rung = count_above<kMissingLeft>(row, ladder);
        const uint32_t rest = count_above<kMissingLeft>(row, ladder + kRung + kRung * rung);
        out[i] = static_cast<uint8_t>(std::min<size_t>(255, kRung * rung + rest));
    }
}

RAMPART_AVX2 void bin_avx2(const CutColumns& all, const CutColumn& column, const float* x,
                           uint8_t* out) {
    const float* cuts = all.cuts(column).data();
    if (column.short_one()) {
        column.default_left ? bin_few<true>(cuts, column.count, x, out)
                            : bin_few<false>(cuts, column.count, x, out);
    } else {
        column.default_left ? bin_many<true>(all.ladder(column), x, out)
                            : bin_many<false>(all.ladder(column), x, out);
    }
}

RAMPART_AVX2 void member_avx2(const MemberTest& test, uint8_t* arena) {
    const __m256i set = _mm256_broadcastsi128_si256(
        _mm_loadu_si128(reinterpret_cast<const __m128i*>(test.bits)));
    for (size_t i = 0; i < kBlock; i += 32) {
        const __m256i bit = load(arena + test.bit + i);
        // an index of 0x80 looks up zero: in no set
        const __m256i word = _mm256_shuffle_epi8(set, load(arena + test.index + i));
        __m256i out = _mm256_cmpeq_epi8(_mm256_and_si256(word, bit), _mm256_setzero_si256());
        if (test.first == 0) out = _mm256_and_si256(out, load(arena + test.out + i));
        store(arena + test.out + i, out);
    }
}

RAMPART_AVX2 void select_avx2(const BlockNode* nodes, size_t count, uint8_t* arena, uint32_t out) {
    uint8_t* to = arena + out;
    for (size_t n = 0; n < count; ++n, to += kBlock) {
        const BlockNode node = nodes[n];
        const __m256i cut = _mm256_set1_epi8(static_cast<char>(node.cut));
        for (size_t i = 0; i < kBlock; i += 32) {
            const __m256i column = load(arena + node.column + i);
            // min(column, cut) = column: unsigned column <= cut
            const __m256i go_left = _mm256_cmpeq_epi8(_mm256_min_epu8(column, cut), column);
            store(to + i, _mm256_blendv_epi8(load(arena + node.right + i),
                                             load(arena + node.left + i), go_left));
        }
    }
}

constexpr BatchKernels kAvx2Kernels{bin_avx2, member_avx2, select_avx2};

#endif

}  // namespace

std::string_view to_string(InstructionSet set) {
    return set == InstructionSet::kAvx2 ? "avx2" : "portable";
}

bool supports(InstructionSet set) {
    if (set == InstructionSet::kPortable) return true;
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") != 0;
#else
    return false;
#endif
}

InstructionSet fastest_supported() {
    return supports(InstructionSet::kAvx2) ? InstructionSet::kAvx2 : InstructionSet::kPortable;
}

const BatchKernels& batch_kernels(InstructionSet set) {
    RAMPART_CHECK(supports(set), "this machine has no {}", to_string(set));
#if defined(__x86_64__)
    if (set == InstructionSet::kAvx2) return kAvx2Kernels;
#endif
    return kPortableKernels;
}

}  // namespace rampart::model
