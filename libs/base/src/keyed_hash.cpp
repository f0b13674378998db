#include "rampart/base/keyed_hash.hpp"

// The functions for SHA-256 alone, whose state can be copied like any other value: with the newer
// ones, a copy costs more than the hash of a short message.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/sha.h>

#include <cstring>

#include "rampart/base/check.hpp"
#include "rampart/base/digest.hpp"

namespace rampart::base {
namespace {

constexpr size_t kBlock = 64;

using Block = std::array<uint8_t, kBlock>;

SHA256_CTX begin_with(const Block& key, uint8_t padding) {
    Block padded = key;
    for (uint8_t& byte : padded) byte ^= padding;
    SHA256_CTX state;
    RAMPART_CHECK(SHA256_Init(&state) == 1 &&
                  SHA256_Update(&state, padded.data(), padded.size()) == 1);
    return state;
}

/// Hashes on from a state that is kept.
template <class Kept>
std::array<uint8_t, SHA256_DIGEST_LENGTH> finish(const Kept& kept, const void* bytes, size_t size) {
    SHA256_CTX state;
    std::memcpy(&state, kept.data(), sizeof state);
    std::array<uint8_t, SHA256_DIGEST_LENGTH> digest;
    RAMPART_CHECK(SHA256_Update(&state, bytes, size) == 1 &&
                  SHA256_Final(digest.data(), &state) == 1);
    return digest;
}

}  // namespace

KeyedHash::KeyedHash(std::string_view key) {
    static_assert(sizeof(SHA256_CTX) <= kStateBytes);
    Block block{};
    if (key.size() > kBlock) {
        const auto digest = sha256(key);
        std::memcpy(block.data(), digest.bytes.data(), digest.bytes.size());
    } else if (!key.empty()) {
        std::memcpy(block.data(), key.data(), key.size());
    }
    const auto inner = begin_with(block, 0x36), outer = begin_with(block, 0x5c);
    std::memcpy(inner_.data(), &inner, sizeof inner);
    std::memcpy(outer_.data(), &outer, sizeof outer);
}

double KeyedHash::uniform(std::string_view message) const {
    const auto inner = finish(inner_, message.data(), message.size());
    const auto digest = finish(outer_, inner.data(), inner.size());
    uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) bits = bits << 8 | digest[i];
    return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

}  // namespace rampart::base
