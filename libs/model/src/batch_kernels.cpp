#include "batch_kernels.hpp"

#include <algorithm>
#include <cmath>

#include "avx2.hpp"
#include "rampart/base/check.hpp"

namespace rampart::model {
namespace {

void bin_portable(const CutColumns& all, const CutColumn& column, const float* x, uint8_t* right,
                  uint8_t* left) {
    const auto cuts = all.cuts(column);
    for (size_t i = 0; i < kBlock; ++i) {
        // branch-free binary search: `from` counts the cuts known to be below x
        const float* from = cuts.data();
        for (size_t n = cuts.size(); n > 0; n -= (n + 1) / 2) {
            const size_t half = (n + 1) / 2;
            from += from[half - 1] < x[i] ? half : 0;
        }
        const bool missing = std::isnan(x[i]);
        left[i] = static_cast<uint8_t>(from - cuts.data());  // NaN is above no cut
        right[i] = missing ? kMissingByte : left[i];
    }
}

void member_portable(const MemberTest& shared, uint8_t* arena) {
    const MemberTest test = shared;  // a copy, so that no write to the arena can change it
    const uint8_t* index = arena + test.index;
    const uint8_t* bit = arena + test.bit;
    uint8_t* out = arena + test.out;
    const int keep = test.first != 0 ? 255 : 0;
    for (size_t i = 0; i < kBlock; ++i) {
        const int known = (index[i] >> 7) - 1;  // all bits set, or none for an index of 0x80
        const int word = test.bits[index[i] & 15] & bit[i] & known;
        out[i] = static_cast<uint8_t>(((word != 0) - 1) & (out[i] | keep));
    }
}

void members_portable(const MemberTest* tests, size_t count, uint8_t* arena) {
    for (size_t t = 0; t < count; ++t) member_portable(tests[t], arena);
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

constexpr BatchKernels kPortableKernels{bin_portable, members_portable, select_portable};

#if defined(__x86_64__)

/// Packs 32 numbers of 0 to 255 into bytes.
RAMPART_AVX2 inline __m256i pack(const __m256i* eights) {
    // packing works within 128-bit lanes; the permutation restores the order of groups of four rows
    const __m256i packed = _mm256_packus_epi16(_mm256_packs_epi32(eights[0], eights[1]),
                                               _mm256_packs_epi32(eights[2], eights[3]));
    return _mm256_permutevar8x32_epi32(packed, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/// For few cuts: eight rows in a register, cut after cut. NaN is above none.
RAMPART_AVX2 void bin_few(const float* cuts, uint32_t count, const float* x, uint8_t* out) {
    for (size_t i = 0; i < kBlock; i += 32) {
        __m256i below[4] = {};
        const __m256 rows[4] = {_mm256_loadu_ps(x + i), _mm256_loadu_ps(x + i + 8),
                                _mm256_loadu_ps(x + i + 16), _mm256_loadu_ps(x + i + 24)};
        for (uint32_t c = 0; c < count; ++c) {
            const __m256 cut = _mm256_broadcast_ss(cuts + c);
            for (size_t k = 0; k < 4; ++k) {
                const __m256 above = _mm256_cmp_ps(rows[k], cut, _CMP_GT_OQ);
                below[k] = _mm256_sub_epi32(below[k], _mm256_castps_si256(above));
            }
        }
        store(out + i, pack(below));
    }
}

/// For many cuts: one row at a time against 16 rungs, then against the 16 cuts of that rung.
RAMPART_AVX2 void bin_many(const float* ladder, const float* x, uint8_t* out) {
    for (size_t i = 0; i < kBlock; ++i) out[i] = byte_of(_mm256_broadcast_ss(x + i), ladder);
}

RAMPART_AVX2 void bin_avx2(const CutColumns& all, const CutColumn& column, const float* x,
                           uint8_t* right, uint8_t* left) {
    if (column.count <= kRung) {
        bin_few(all.cuts(column).data(), column.count, x, left);
    } else {
        bin_many(all.ladder(column), x, left);
    }
    for (size_t i = 0; i < kBlock; i += 32) {
        __m256i missing[4];
        for (size_t k = 0; k < 4; ++k) {
            const __m256 rows = _mm256_loadu_ps(x + i + 8 * k);
            missing[k] = _mm256_castps_si256(_mm256_cmp_ps(rows, rows, _CMP_UNORD_Q));
            missing[k] = _mm256_srli_epi32(missing[k], 24);  // 255, or 0
        }
        store(right + i, _mm256_or_si256(load(left + i), pack(missing)));
    }
}

RAMPART_AVX2 void members_avx2(const MemberTest* tests, size_t count, uint8_t* arena) {
    for (size_t t = 0; t < count; ++t) {
        const MemberTest& test = tests[t];
        const uint8_t* index = arena + test.index;
        const uint8_t* bit = arena + test.bit;
        uint8_t* out = arena + test.out;
        const __m256i keep = _mm256_set1_epi8(static_cast<char>(test.first != 0 ? 255 : 0));
        const __m256i set = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(test.bits)));
        for (size_t i = 0; i < kBlock; i += 32) {
            // an index of 0x80 looks up zero: a member of no set
            const __m256i word =
                _mm256_and_si256(_mm256_shuffle_epi8(set, load(index + i)), load(bit + i));
            const __m256i outside = _mm256_cmpeq_epi8(word, _mm256_setzero_si256());
            store(out + i, _mm256_and_si256(outside, _mm256_or_si256(load(out + i), keep)));
        }
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

constexpr BatchKernels kAvx2Kernels{bin_avx2, members_avx2, select_avx2};

#endif

}  // namespace

const BatchKernels& batch_kernels(InstructionSet set) {
    RAMPART_CHECK(supports(set), "this machine does not support {}", to_string(set));
#if defined(__x86_64__)
    if (set == InstructionSet::kAvx2) return kAvx2Kernels;
#endif
    return kPortableKernels;
}

}  // namespace rampart::model
