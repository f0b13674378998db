#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

/// Authenticated encryption: AES-256-GCM (NIST SP 800-38D) with a random nonce. The key holder can
/// read the text and detects any change to it; without the key neither is possible.
namespace rampart::base {

inline constexpr size_t kAeadKeyBytes = 32;
inline constexpr size_t kAeadNonceBytes = 12;
inline constexpr size_t kAeadTagBytes = 16;
inline constexpr size_t kAeadOverheadBytes = kAeadNonceBytes + kAeadTagBytes;

/// Returns nonce, ciphertext and tag. `associated` is not part of it, but unseal() needs the same
/// bytes. `key` has kAeadKeyBytes bytes; one key may seal at most 2^32 messages.
std::string seal(std::string_view key, std::string_view associated, std::string_view plaintext);

/// Fails with data_loss "not_authentic": damaged, or sealed with another key or associated data.
Result<std::string> unseal(std::string_view key, std::string_view associated,
                           std::string_view sealed);

}  // namespace rampart::base
