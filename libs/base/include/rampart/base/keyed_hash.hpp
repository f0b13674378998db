#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace rampart::base {

/// HMAC-SHA-256 under one key, for very many short messages: what depends on the key alone is
/// computed once. Thread safe.
class KeyedHash {
  public:
    explicit KeyedHash(std::string_view key);
    /// Returns keyed_uniform(key, message): a number in [0, 1).
    double uniform(std::string_view message) const;

  private:
    static constexpr size_t kStateBytes = 128;
    // states of the two hashes behind their padded keys
    alignas(8) std::array<uint8_t, kStateBytes> inner_{}, outer_{};
};

}  // namespace rampart::base
