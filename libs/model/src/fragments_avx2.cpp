#include "avx2.hpp"
#include "fragments.hpp"
#include "rampart/base/check.hpp"

namespace rampart::model {

#if defined(__x86_64__)
namespace {

constexpr size_t kTableBytes = 16, kMostTables = 16;

/// Looks up the byte of each node's column, in tables of 16.
template <size_t kTables>
RAMPART_AVX2 inline __m256i bytes_of(const Fragment& fragment, const __m256i* tables,
                                     size_t table_count) {
    const __m256i column = load(fragment.column.data());
    if constexpr (kTables == 1) return _mm256_shuffle_epi8(tables[0], column);
    // Table t has the columns 16 t to 16 t + 15: exclusive or with 16 t maps exactly these to 0 to
    // 15; adding 0x70 then sets the top bit of all others, and these look up zero.
    const __m256i step = _mm256_set1_epi8(kTableBytes), others = _mm256_set1_epi8(0x70);
    __m256i own = _mm256_setzero_si256(), bytes = _mm256_setzero_si256();
    const size_t count = kTables == 0 ? table_count : kTables;
#pragma GCC unroll 4
    for (size_t t = 0; t < count; ++t) {
        const __m256i index = _mm256_adds_epu8(_mm256_xor_si256(column, own), others);
        bytes = _mm256_or_si256(bytes, _mm256_shuffle_epi8(tables[t], index));
        own = _mm256_add_epi8(own, step);
    }
    return bytes;
}

/// Sets byte i to all ones iff bit i is set.
RAMPART_AVX2 inline __m256i spread(uint32_t bits) {
    const __m256i byte_of_bit =
        _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x(static_cast<int64_t>(0x8040201008040201));
    const __m256i word = _mm256_set1_epi32(static_cast<int>(bits));
    return _mm256_cmpeq_epi8(_mm256_and_si256(_mm256_shuffle_epi8(word, byte_of_bit), bit), bit);
}

/// Returns the first exit that no node excludes; left: all ones for each node that sends the row
/// left.
RAMPART_AVX2 inline uint32_t exit_of(const Fragment& fragment, __m256i left) {
    // reach of the nodes that exclude exits; then, byte e: the largest reach of nodes from e on
    __m256i reach = _mm256_andnot_si256(left, load(fragment.reach.data()));
    reach = _mm256_max_epu8(reach, _mm256_srli_si256(reach, 1));
    reach = _mm256_max_epu8(reach, _mm256_srli_si256(reach, 2));
    reach = _mm256_max_epu8(reach, _mm256_srli_si256(reach, 4));
    reach = _mm256_max_epu8(reach, _mm256_srli_si256(reach, 8));
    const __m256i upper = _mm256_permute2x128_si256(reach, reach, 0x81);  // moves to the lower lane
    reach = _mm256_max_epu8(reach, _mm256_shuffle_epi8(upper, _mm256_setzero_si256()));
    // remains iff a > e for all of them: 255 - a <= 254 - e
    const __m256i most = _mm256_setr_epi8(-2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14,
                                          -15, -16, -17, -18, -19, -20, -21, -22, -23, -24, -25,
                                          -26, -27, -28, -29, -30, -31, -32, -33);
    const __m256i open = _mm256_cmpeq_epi8(_mm256_min_epu8(reach, most), reach);
    return static_cast<uint32_t>(__builtin_ctz(static_cast<unsigned>(_mm256_movemask_epi8(open))));
}

}  // namespace

/// Sets bytes[1 + c] to the byte of column c. bytes[0] is above every cut. Returns whether any
/// value is missing.
RAMPART_AVX2 bool Fragments::make_bytes(const float* row, uint8_t* bytes) const {
    bytes[0] = kMissingByte;
    bool missing = false;
    for (const CutColumn& column : cuts_.columns()) {
        const float value = row[column.feature];
        const uint8_t byte = byte_of(_mm256_set1_ps(value), cuts_.ladder(column));
        *++bytes = value != value ? kMissingByte : byte;
        missing |= value != value;
    }
    return missing;
}

template <size_t kTables, bool kMissing, bool kEach>
RAMPART_AVX2 double Fragments::add_with(double sum, const Encoded& row,
                                        std::span<double> sums) const {
    const auto [bytes, codes] = row;
    __m256i tables[kMostTables];
    const size_t count = cuts_.columns().size() / kTableBytes + 1;
    for (size_t t = 0; t < count; ++t) {
        tables[t] = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + t * kTableBytes)));
    }
    const Fragment* const fragments = fragments_.data();
    const double* const exits = exits_.data();
    const CodeWords* const words = words_.data();
    const uint32_t* const answers = answers_.data();
    const uint32_t* const roots = roots_.data();
    const size_t trees = kEach ? sums.size() : roots_.size();
    for (size_t t = 0; t < trees; ++t) {
        const Fragment* fragment = fragments + roots[t];
        for (;;) {
            const __m256i asked = bytes_of<kTables>(*fragment, tables, count);
            const __m256i low = _mm256_min_epu8(asked, load(fragment->cut.data()));
            __m256i left = _mm256_cmpeq_epi8(low, asked);
            if constexpr (kMissing) {
                const __m256i missing = _mm256_cmpeq_epi8(asked, _mm256_set1_epi8(-1));
                left = _mm256_or_si256(left,
                                       _mm256_and_si256(missing, spread(fragment->default_left)));
            }
            if (fragment->word_count > 0) {
                uint32_t bits = 0;
                for (uint32_t w = 0; w < fragment->word_count; ++w) {
                    const CodeWords& word = words[fragment->words + w];
                    bits |= answers[codes[word.feature] + word.slot];
                }
                left = _mm256_or_si256(left, spread(bits));
            }
            const uint32_t exit = exit_of(*fragment, left);
            const double found = exits[fragment->exits + exit];
            if ((fragment->deeper >> exit & 1) == 0) [[likely]] {
                sum += found;
                break;
            }
            fragment = fragments + static_cast<uint32_t>(found);
        }
        if constexpr (kEach) sums[t] = sum;
    }
    return sum;
}

template <bool kMissing, bool kEach>
double Fragments::add_bytes(double sum, const Encoded& row, std::span<double> sums) const {
    switch (cuts_.columns().size() / kTableBytes) {
        case 0:
            return add_with<1, kMissing, kEach>(sum, row, sums);
        case 1:
            return add_with<2, kMissing, kEach>(sum, row, sums);
        case 2:
            return add_with<3, kMissing, kEach>(sum, row, sums);
        default:
            return add_with<0, kMissing, kEach>(sum, row, sums);
    }
}

template <bool kEach>
double Fragments::add_row(double sum, const float* row, std::span<double> sums) const {
    alignas(32) uint8_t bytes[kMostTables * kTableBytes];
    uint32_t codes[kMostCodeFeatures];
    const bool missing = make_bytes(row, bytes);
    make_codes(row, codes);
    const Encoded encoded{bytes, codes};
    return missing ? add_bytes<true, kEach>(sum, encoded, sums)
                   : add_bytes<false, kEach>(sum, encoded, sums);
}

double Fragments::add(double sum, const float* row) const { return add_row<false>(sum, row, {}); }

void Fragments::add_each(double sum, const float* row, std::span<double> sums) const {
    add_row<true>(sum, row, sums);
}

#else

double Fragments::add(double, const float*) const {
    RAMPART_CHECK(false, "fragments need AVX2");
    return 0;
}

void Fragments::add_each(double, const float*, std::span<double>) const {
    RAMPART_CHECK(false, "fragments need AVX2");
}

#endif

}  // namespace rampart::model
