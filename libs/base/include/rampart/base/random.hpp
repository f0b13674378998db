#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace rampart::base {

/// Computes SplitMix64's output function: a fast bijective mix of 64 bits (Steele et al. 2014).
constexpr uint64_t mix64(uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

/// xoshiro256** 1.0 (Blackman, Vigna 2018), seeded by SplitMix64. Gives the same numbers on every
/// machine: the distributions are implemented here, not taken from the standard library. Not for
/// secrets. Not thread safe.
class Random {
  public:
    explicit Random(uint64_t seed);

    uint64_t next();
    double uniform();  // [0, 1), 53 bits
    double uniform(double lo, double hi);
    uint64_t below(uint64_t n);  // [0, n) without modulo bias; n > 0
    double normal();             // mean 0, variance 1 (Box–Muller, one of the pair)
    bool bernoulli(double p) { return uniform() < p; }

    template <class T>
    void shuffle(std::span<T> values) {
        for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
    }

    /// Returns a generator for a sub-task; it does not depend on how many numbers were drawn here.
    Random fork(uint64_t stream) const { return Random(mix64(seed_ ^ mix64(stream))); }

  private:
    uint64_t seed_;
    uint64_t state_[4];
};

}  // namespace rampart::base
