#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rampart::model_exchange {

/// Writes a message in the wire format of Protocol Buffers, field by field.
class ProtoWriter {
  public:
    ProtoWriter& number(uint32_t field, int64_t value) {
        tag(field, 0);
        varint(static_cast<uint64_t>(value));
        return *this;
    }
    ProtoWriter& text(uint32_t field, std::string_view bytes) {
        tag(field, 2);
        varint(bytes.size());
        bytes_ += bytes;
        return *this;
    }
    ProtoWriter& message(uint32_t field, const ProtoWriter& part) {
        return text(field, part.bytes_);
    }
    ProtoWriter& packed(uint32_t field, std::span<const int64_t> values) {
        ProtoWriter list;
        for (const int64_t value : values) list.varint(static_cast<uint64_t>(value));
        return message(field, list);
    }
    const std::string& bytes() const { return bytes_; }

  private:
    void varint(uint64_t value) {
        for (; value > 0x7f; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
        bytes_ += static_cast<char>(value);
    }
    void tag(uint32_t field, uint32_t type) { varint(uint64_t{field} << 3 | type); }

    std::string bytes_;
};

/// Returns the bytes of doubles, the lowest byte first.
inline std::string little_endian(std::span<const double> values) {
    std::string out;
    out.reserve(8 * values.size());
    for (const double value : values) {
        const auto bits = std::bit_cast<uint64_t>(value);
        for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>(bits >> shift & 0xff);
    }
    return out;
}

}  // namespace rampart::model_exchange
