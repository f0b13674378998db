#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace rampart::base {

inline constexpr size_t kStreamKeyBytes = 32;

/// AES-256 in counter mode (NIST SP 800-38A), the counter from 0: any part of a stream of bytes can
/// be encrypted and decrypted for itself. It hides the bytes and notices no change to them; that is
/// for others to do. Thread safe.
class StreamCipher {
  public:
    /// `key` has kStreamKeyBytes bytes, and is the key of one stream alone: who sees two
    /// contents of one place under the same key learns what they differ in.
    explicit StreamCipher(std::string_view key);
    /// Encrypts the bytes that stand at `offset` of the stream, or decrypts them: it is the same.
    void apply(uint64_t offset, std::span<char> bytes) const;

  private:
    std::array<unsigned char, kStreamKeyBytes> key_{};
};

}  // namespace rampart::base
