#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

/// Authenticated encryption: AES-256-GCM (NIST SP 800-38D) with a random nonce. Who has the key can
/// read, and would notice any change; without it neither.
namespace rampart::base {

inline constexpr size_t kAeadKeyBytes = 32;
inline constexpr size_t kAeadNonceBytes = 12;
inline constexpr size_t kAeadTagBytes = 16;
inline constexpr size_t kAeadOverheadBytes = kAeadNonceBytes + kAeadTagBytes;

/// nonce, ciphertext, tag. `associated` is not in it, but has to be the same to unseal. `key` has
/// kAeadKeyBytes; one key may seal 2^32 messages.
std::string seal(std::string_view key, std::string_view associated, std::string_view plaintext);

/// data_loss "not_authentic": damaged, or sealed with another key or other associated data.
Result<std::string> unseal(std::string_view key, std::string_view associated,
                           std::string_view sealed);

}  // namespace rampart::base
