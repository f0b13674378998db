#include "rampart/base/random.hpp"

#include <bit>
#include <cmath>
#include <numbers>

#include "rampart/base/check.hpp"

namespace rampart::base {

Random::Random(uint64_t seed) : seed_(seed) {
    for (uint64_t i = 0; i < 4; ++i) state_[i] = mix64(seed + i * 0x9e3779b97f4a7c15ULL);
}

uint64_t Random::next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
}

double Random::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double Random::uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }

uint64_t Random::below(uint64_t n) {
    RAMPART_CHECK(n > 0);
    const uint64_t reject_below = (0 - n) % n;  // 2^64 mod n
    uint64_t x = next();
    while (x < reject_below) x = next();
    return x % n;
}

double Random::normal() {
    const double u = 1.0 - uniform();  // (0, 1]
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * uniform());
}

}  // namespace rampart::base
