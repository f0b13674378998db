#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::base {

/// Appends big-endian integers and length-prefixed strings, for keys that sort in numeric order.
void append_u8(std::string& out, uint8_t value);
void append_u32(std::string& out, uint32_t value);
void append_u64(std::string& out, uint64_t value);
/// Appends the value with its sign bit flipped, so that the bytes sort like the signed number.
void append_i64(std::string& out, int64_t value);
void append_f64(std::string& out, double value);  // bit pattern, big-endian; does not sort
void append_field(std::string& out, std::string_view bytes);  // u32 length, bytes

/// Reads values from the front of a byte string; each read fails if too few bytes are left.
class ByteReader {
  public:
    explicit ByteReader(std::string_view bytes) : rest_(bytes) {}
    Result<uint8_t> u8();
    Result<uint32_t> u32();
    Result<uint64_t> u64();
    Result<int64_t> i64();
    Result<double> f64();
    Result<std::string_view> field();
    Result<std::string_view> take(size_t n);
    bool empty() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
};

}  // namespace rampart::base
