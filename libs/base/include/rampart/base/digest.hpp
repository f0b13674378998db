#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::base {

/// SHA-256 (FIPS 180-4) of bytes. Text form: 64 lower-case hex digits.
struct Digest {
    std::array<uint8_t, 32> bytes{};
    std::string hex() const;
    static Result<Digest> from_hex(std::string_view text);
    auto operator<=>(const Digest&) const = default;
};

Digest sha256(std::string_view bytes);

/// Incremental SHA-256, for data that arrives in pieces.
class Sha256 {
  public:
    Sha256();
    ~Sha256();
    Sha256(Sha256&&) noexcept;
    Sha256& operator=(Sha256&&) noexcept;
    void update(std::string_view bytes);
    /// Adds a length prefix and the bytes, so that the boundary between two fields is unambiguous.
    void update_field(std::string_view bytes);
    Digest finish();  // may be called once

  private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Computes HMAC-SHA-256 (RFC 2104).
Digest hmac_sha256(std::string_view key, std::string_view message);

/// Returns the first 53 bits of HMAC-SHA-256(key, message) as a number in [0, 1).
double keyed_uniform(std::string_view key, std::string_view message);

/// Computes the root of a Merkle tree (RFC 6962 hashing: leaves and nodes have different prefixes).
/// Without leaves the root is the digest of the empty string.
Digest merkle_root(const std::vector<std::string>& leaves);

std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view text);
std::string to_base64(std::string_view bytes);
Result<std::string> from_base64(std::string_view text);

/// Returns `n` bytes from the operating system's generator, for secrets.
std::string random_bytes(size_t n);

/// Compares in time that does not depend on the content.
bool constant_time_equal(std::string_view a, std::string_view b);

}  // namespace rampart::base
