#include "rampart/base/bytes.hpp"

#include <bit>

#include "rampart/base/reasons.hpp"

namespace rampart::base {
namespace {

template <class T>
void append_big_endian(std::string& out, T value) {
    for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8) {
        out += static_cast<char>(value >> shift);
    }
}

template <class T>
T read_big_endian(std::string_view bytes) {
    T value = 0;
    for (const char c : bytes) value = static_cast<T>(value << 8 | static_cast<unsigned char>(c));
    return value;
}

constexpr uint64_t kSignBit = uint64_t{1} << 63;

}  // namespace

void append_u8(std::string& out, uint8_t value) { out += static_cast<char>(value); }
void append_u32(std::string& out, uint32_t value) { append_big_endian(out, value); }
void append_u64(std::string& out, uint64_t value) { append_big_endian(out, value); }
void append_i64(std::string& out, int64_t value) {
    append_u64(out, static_cast<uint64_t>(value) ^ kSignBit);
}
void append_f64(std::string& out, double value) { append_u64(out, std::bit_cast<uint64_t>(value)); }
void append_field(std::string& out, std::string_view bytes) {
    append_u32(out, static_cast<uint32_t>(bytes.size()));
    out += bytes;
}

Result<std::string_view> ByteReader::take(size_t n) {
    if (rest_.size() < n) {
        return make_error(Reason::kTruncated, "wanted {} more bytes, {} are left", n, rest_.size());
    }
    const auto taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
}

Result<uint8_t> ByteReader::u8() {
    RAMPART_TRY(const auto bytes, take(1));
    return static_cast<uint8_t>(bytes[0]);
}
Result<uint32_t> ByteReader::u32() {
    RAMPART_TRY(const auto bytes, take(4));
    return read_big_endian<uint32_t>(bytes);
}
Result<uint64_t> ByteReader::u64() {
    RAMPART_TRY(const auto bytes, take(8));
    return read_big_endian<uint64_t>(bytes);
}
Result<int64_t> ByteReader::i64() {
    RAMPART_TRY(const auto bits, u64());
    return static_cast<int64_t>(bits ^ kSignBit);
}
Result<double> ByteReader::f64() {
    RAMPART_TRY(const auto bits, u64());
    return std::bit_cast<double>(bits);
}
Result<std::string_view> ByteReader::field() {
    RAMPART_TRY(const auto size, u32());
    return take(size);
}

}  // namespace rampart::base
