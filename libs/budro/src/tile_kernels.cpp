#include "tile_kernels.hpp"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rampart::budro {
namespace {

/// After so many dimensions it is looked at whether a tile is out of the question already.
constexpr size_t kStretch = 8;
/// So many lanes are faster done one by one.
constexpr int kFew = 5;

size_t scan_portable(const uint16_t* row, size_t n, const uint16_t* greatest, uint16_t best,
                     uint32_t* found) {
    size_t count = 0;
    for (size_t t = 0; t < n; ++t) {
        const int allowed = greatest[t] - best;
        if (row[t] <= (allowed > 0 ? allowed : 0)) found[count++] = static_cast<uint32_t>(t);
    }
    return count;
}

size_t scan_unknown_portable(const uint16_t* row, size_t n, const uint16_t* greatest, uint16_t best,
                             const uint16_t* known, const uint16_t* rise, uint16_t sought,
                             uint32_t* found) {
    size_t count = 0;
    for (size_t t = 0; t < n; ++t) {
        const int allowed = greatest[t] - best;
        if (row[t] <= (allowed > 0 ? allowed : 0) && known[t] + rise[t] >= sought)
            found[count++] = static_cast<uint32_t>(t);
    }
    return count;
}

void add_portable(const float* tile, const float* point, size_t first, size_t last, float* s) {
    for (size_t k = first; k < last; ++k) {
        for (size_t l = 0; l < kLanes; ++l) {
            const float difference = tile[k * kLanes + l] - point[k];
            s[l] += difference * difference;
        }
    }
}

uint32_t open_lanes(const Screen& screen, const float* s) {
    uint32_t open = 0;
    for (size_t l = 0; l < kLanes; ++l)
        if (screen.losses[l] - screen.eta * s[l] >= screen.best) open |= 1u << l;
    return open;
}

uint32_t screen_portable(const Tiles& tiles, size_t t, const float* point, const Screen& screen) {
    float s[kLanes];
    for (float& x : s) x = screen.least;
    uint32_t open = open_lanes(screen, s);
    for (float& x : s) x = 0;
    const size_t dimensions = tiles.dimensions();
    for (size_t first = 0; first < dimensions && open != 0; first += kStretch) {
        add_portable(tiles.tile(t), point, first,
                     first + kStretch < dimensions ? first + kStretch : dimensions, s);
        open = open_lanes(screen, s);
    }
    return open;
}

void distances_portable(const Tiles& tiles, size_t t, const float* point, float* s) {
    for (size_t l = 0; l < kLanes; ++l) s[l] = 0;
    add_portable(tiles.tile(t), point, 0, tiles.dimensions(), s);
}

Look look_portable(const Tiles& tiles, size_t t, const float* point, const Screen& screen) {
    float s[kLanes] = {};
    const size_t dimensions = tiles.dimensions();
    for (size_t first = 0;; first += kStretch) {
        const size_t last = first + kStretch < dimensions ? first + kStretch : dimensions;
        add_portable(tiles.tile(t), point, first, last, s);
        float most = screen.losses[0] - screen.eta * s[0];
        for (size_t l = 1; l < kLanes; ++l) {
            const float value = screen.losses[l] - screen.eta * s[l];
            most = value > most ? value : most;
        }
        if (most < screen.prune_threshold) return {0, most};
        if (last == dimensions) return {open_lanes(screen, s), most};
    }
}

constexpr TileKernels kPortable{scan_portable, scan_unknown_portable, screen_portable,
                                look_portable, distances_portable};

#if defined(__x86_64__)

RAMPART_AVX2 inline __m256i load(const uint16_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

/// Columns where row <= greatest - best, two bits each (greatest - best below 0 counts as 0).
RAMPART_AVX2 inline uint32_t reached(const uint16_t* row, const uint16_t* greatest, __m256i best) {
    const __m256i allowed = _mm256_subs_epu16(load(greatest), best);
    const __m256i over = _mm256_subs_epu16(load(row), allowed);
    return static_cast<uint32_t>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi16(over, _mm256_setzero_si256())));
}

RAMPART_AVX2 size_t scan_avx2(const uint16_t* row, size_t n, const uint16_t* greatest,
                              uint16_t best, uint32_t* found) {
    const __m256i to_beat = _mm256_set1_epi16(static_cast<int16_t>(best));
    size_t count = 0;
    for (size_t t = 0; t < n; t += 16) {
        for (uint32_t bits = reached(row + t, greatest + t, to_beat) & 0x55555555u; bits != 0;
             bits &= bits - 1)
            found[count++] =
                static_cast<uint32_t>(t) + static_cast<uint32_t>(__builtin_ctz(bits)) / 2;
    }
    return count;
}

RAMPART_AVX2 size_t scan_unknown_avx2(const uint16_t* row, size_t n, const uint16_t* greatest,
                                      uint16_t best, const uint16_t* known, const uint16_t* rise,
                                      uint16_t sought, uint32_t* found) {
    const __m256i to_beat = _mm256_set1_epi16(static_cast<int16_t>(best));
    const __m256i wanted = _mm256_set1_epi16(static_cast<int16_t>(sought));
    size_t count = 0;
    for (size_t t = 0; t < n; t += 16) {
        const __m256i value = _mm256_adds_epu16(load(known + t), load(rise + t));
        const auto enough = static_cast<uint32_t>(
            _mm256_movemask_epi8(_mm256_cmpeq_epi16(_mm256_max_epu16(value, wanted), value)));
        for (uint32_t bits = reached(row + t, greatest + t, to_beat) & enough & 0x55555555u;
             bits != 0; bits &= bits - 1)
            found[count++] =
                static_cast<uint32_t>(t) + static_cast<uint32_t>(__builtin_ctz(bits)) / 2;
    }
    return count;
}

RAMPART_AVX2 inline void add_avx2(const float* tile, const float* point, size_t first, size_t last,
                                  __m256& low, __m256& high) {
    for (size_t k = first; k < last; ++k) {
        const __m256 x = _mm256_broadcast_ss(point + k);
        const __m256 a = _mm256_sub_ps(_mm256_loadu_ps(tile + k * kLanes), x);
        const __m256 b = _mm256_sub_ps(_mm256_loadu_ps(tile + k * kLanes + 8), x);
        low = _mm256_add_ps(low, _mm256_mul_ps(a, a));
        high = _mm256_add_ps(high, _mm256_mul_ps(b, b));
    }
}

RAMPART_AVX2 inline uint32_t open_lanes(const Screen& screen, __m256 low, __m256 high) {
    const __m256 eta = _mm256_set1_ps(screen.eta), best = _mm256_set1_ps(screen.best);
    const __m256 a = _mm256_sub_ps(_mm256_loadu_ps(screen.losses), _mm256_mul_ps(eta, low));
    const __m256 b = _mm256_sub_ps(_mm256_loadu_ps(screen.losses + 8), _mm256_mul_ps(eta, high));
    return static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(a, best, _CMP_GE_OQ))) |
           static_cast<uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(b, best, _CMP_GE_OQ))) << 8;
}

RAMPART_AVX2 inline float distance_avx2(const float* row, const float* point, size_t padded) {
    __m256 sum = _mm256_setzero_ps();
    for (size_t k = 0; k < padded; k += 8) {
        const __m256 x = _mm256_sub_ps(_mm256_loadu_ps(row + k), _mm256_loadu_ps(point + k));
        sum = _mm256_add_ps(sum, _mm256_mul_ps(x, x));
    }
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(sum), _mm256_extractf128_ps(sum, 1));
    four = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(four, _mm_movehdup_ps(four)));
}

RAMPART_AVX2 uint32_t screen_avx2(const Tiles& tiles, size_t t, const float* point,
                                  const Screen& screen) {
    const __m256 least = _mm256_set1_ps(screen.least);
    uint32_t open = open_lanes(screen, least, least);
    if (std::popcount(open) <= kFew) {
        uint32_t left = 0;
        for (; open != 0; open &= open - 1) {
            const auto lane = static_cast<size_t>(__builtin_ctz(open));
            const float s = distance_avx2(tiles.row(t * kLanes + lane), point, tiles.padded());
            if (screen.losses[lane] - screen.eta * s >= screen.best) left |= open & -open;
        }
        return left;
    }
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    const size_t dimensions = tiles.dimensions();
    for (size_t first = 0; first < dimensions && open != 0; first += kStretch) {
        const size_t last = first + kStretch < dimensions ? first + kStretch : dimensions;
        add_avx2(tiles.tile(t), point, first, last, low, high);
        open = open_lanes(screen, low, high);
    }
    return open;
}

RAMPART_AVX2 void distances_avx2(const Tiles& tiles, size_t t, const float* point, float* s) {
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    add_avx2(tiles.tile(t), point, 0, tiles.dimensions(), low, high);
    _mm256_storeu_ps(s, low);
    _mm256_storeu_ps(s + 8, high);
}

RAMPART_AVX2 inline float greatest_of(__m256 a) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

RAMPART_AVX2 Look look_avx2(const Tiles& tiles, size_t t, const float* point,
                            const Screen& screen) {
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    const __m256 eta = _mm256_set1_ps(screen.eta),
                 prune_threshold = _mm256_set1_ps(screen.prune_threshold);
    const __m256 losses = _mm256_loadu_ps(screen.losses);
    const __m256 more_losses = _mm256_loadu_ps(screen.losses + 8);
    const size_t dimensions = tiles.dimensions();
    for (size_t first = 0;; first += kStretch) {
        const size_t last = first + kStretch < dimensions ? first + kStretch : dimensions;
        add_avx2(tiles.tile(t), point, first, last, low, high);
        const __m256 most = _mm256_max_ps(_mm256_sub_ps(losses, _mm256_mul_ps(eta, low)),
                                          _mm256_sub_ps(more_losses, _mm256_mul_ps(eta, high)));
        if (_mm256_movemask_ps(_mm256_cmp_ps(most, prune_threshold, _CMP_GE_OQ)) == 0)
            return {0, greatest_of(most)};
        if (last == dimensions) return {open_lanes(screen, low, high), greatest_of(most)};
    }
}

constexpr TileKernels kAvx2{scan_avx2, scan_unknown_avx2, screen_avx2, look_avx2, distances_avx2};

#else

constexpr TileKernels kAvx2 = kPortable;

#endif

}  // namespace

const TileKernels& tile_kernels(model::InstructionSet set) {
    return set == model::InstructionSet::kAvx2 ? kAvx2 : kPortable;
}

}  // namespace rampart::budro
