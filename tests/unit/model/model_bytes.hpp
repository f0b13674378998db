#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "support/places.hpp"

/// Model files byte by byte, also such as no program of ours writes.
namespace rampart::model {

/// A file whose checksum is right, whatever the payload.
inline std::string with_payload(std::string_view payload, uint32_t version = 1) {
    std::string bytes = "RAMPARTM";
    base::append_u32(bytes, version);
    base::append_u64(bytes, payload.size());
    bytes += payload;
    const auto digest = base::sha256(bytes);
    bytes.append(digest.bytes.begin(), digest.bytes.end());
    return bytes;
}

inline std::string payload_of(std::string_view file) {
    return std::string(file.substr(20, file.size() - 52));
}

inline uint32_t version_of(std::string_view file) {
    return base::ByteReader(file.substr(8)).u32().value();
}

inline std::string varint(uint64_t value) {
    std::string out;
    for (; value >= 128; value >>= 7) out += static_cast<char>(value | 128);
    return out + static_cast<char>(value);
}

inline std::string field(uint32_t number, std::string_view bytes) {
    return varint(number << 3 | 2) + varint(bytes.size()) + std::string(bytes);
}

/// Returns tests/golden/`name` as bytes.
inline std::string golden(const std::string& name) {
    std::ifstream file(test_support::source_dir() + "/tests/golden/" + name);
    std::string hex;
    file >> hex;
    return base::from_hex(hex).value();
}

}  // namespace rampart::model
