#include "tile_kernels.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rampart::fairness::budro {
namespace {

/// After so many dimensions it is looked at whether a tile is out of the question already.
constexpr size_t kStretch = 8;

size_t scan_portable(const uint16_t* row, size_t n, const Reach* reaches, size_t prices,
                     uint32_t* found) {
    size_t count = 0;
    for (size_t t = 0; t < n; ++t) {
        bool reached = false;
        for (size_t p = 0; p < prices; ++p) {
            const int allowed = reaches[p].greatest[t] - reaches[p].best;
            reached |= row[t] <= (allowed > 0 ? allowed : 0);
        }
        if (reached) found[count++] = static_cast<uint32_t>(t);
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

uint32_t screen_portable(const float* tile, const float* point, size_t dimensions,
                         const Screen* screens, size_t prices) {
    float s[kLanes] = {};
    uint32_t open = 0;
    for (size_t first = 0; first == 0 || (first < dimensions && open != 0); first += kStretch) {
        add_portable(tile, point, first, first + kStretch < dimensions ? first + kStretch : dimensions,
                     s);
        open = 0;
        for (size_t p = 0; p < prices; ++p)
            for (size_t l = 0; l < kLanes; ++l)
                if (screens[p].losses[l] - screens[p].eta * s[l] >= screens[p].best)
                    open |= 1u << l;
    }
    return open;
}

void distances_portable(const float* tile, const float* point, size_t dimensions, float* s) {
    for (size_t l = 0; l < kLanes; ++l) s[l] = 0;
    add_portable(tile, point, 0, dimensions, s);
}

constexpr TileKernels kPortable{scan_portable, screen_portable, distances_portable};

#if defined(__x86_64__)

RAMPART_AVX2 inline __m256i load(const uint16_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

/// Lanes of 16 bits that are all ones where row <= greatest - best. greatest - best below 0 becomes
/// 0, and then only a row of 0 passes that should not: a bound that is too low does no harm.
RAMPART_AVX2 inline __m256i reached(__m256i row, const Reach& reach, size_t t) {
    const __m256i best = _mm256_set1_epi16(static_cast<int16_t>(reach.best));
    const __m256i allowed = _mm256_subs_epu16(load(reach.greatest + t), best);
    return _mm256_cmpeq_epi16(_mm256_subs_epu16(row, allowed), _mm256_setzero_si256());
}

template <size_t kPrices>
RAMPART_AVX2 size_t scan_of(const uint16_t* row, size_t n, const Reach* reaches, uint32_t* found) {
    size_t count = 0;
    for (size_t t = 0; t < n; t += 16) {
        const __m256i distances = load(row + t);
        __m256i pass = reached(distances, reaches[0], t);
        if constexpr (kPrices == 2)
            pass = _mm256_or_si256(pass, reached(distances, reaches[1], t));
        auto bits = static_cast<uint32_t>(_mm256_movemask_epi8(pass)) & 0x55555555u;
        for (; bits != 0; bits &= bits - 1)
            found[count++] = static_cast<uint32_t>(t) +
                             static_cast<uint32_t>(__builtin_ctz(bits)) / 2;
    }
    return count;
}

RAMPART_AVX2 size_t scan_avx2(const uint16_t* row, size_t n, const Reach* reaches, size_t prices,
                              uint32_t* found) {
    return prices == 1 ? scan_of<1>(row, n, reaches, found) : scan_of<2>(row, n, reaches, found);
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

template <size_t kPrices>
RAMPART_AVX2 uint32_t screen_of(const float* tile, const float* point, size_t dimensions,
                                const Screen* screens) {
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    for (size_t first = 0;; first += kStretch) {
        const size_t last = first + kStretch < dimensions ? first + kStretch : dimensions;
        add_avx2(tile, point, first, last, low, high);
        uint32_t open = open_lanes(screens[0], low, high);
        if constexpr (kPrices == 2) open |= open_lanes(screens[1], low, high);
        if (open == 0 || last == dimensions) return open;
    }
}

RAMPART_AVX2 uint32_t screen_avx2(const float* tile, const float* point, size_t dimensions,
                                  const Screen* screens, size_t prices) {
    return prices == 1 ? screen_of<1>(tile, point, dimensions, screens)
                       : screen_of<2>(tile, point, dimensions, screens);
}

RAMPART_AVX2 void distances_avx2(const float* tile, const float* point, size_t dimensions,
                                 float* s) {
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    add_avx2(tile, point, 0, dimensions, low, high);
    _mm256_storeu_ps(s, low);
    _mm256_storeu_ps(s + 8, high);
}

constexpr TileKernels kAvx2{scan_avx2, screen_avx2, distances_avx2};

#else

constexpr TileKernels kAvx2 = kPortable;

#endif

}  // namespace

const TileKernels& tile_kernels(model::InstructionSet set) {
    return set == model::InstructionSet::kAvx2 ? kAvx2 : kPortable;
}

}  // namespace rampart::fairness::budro
