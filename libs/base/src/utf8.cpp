#include "rampart/base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace rampart::base {

size_t utf8_length(std::string_view text) {
    if (text.empty()) return 0;
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
    const uint8_t first = byte(0);
    if (first < 0x80) return 1;
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
    for (size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80) return 0;
    }
    const uint8_t second = byte(1);
    if (first == 0xe0 && second < 0xa0) return 0;   // overlong
    if (first == 0xed && second >= 0xa0) return 0;  // surrogates
    if (first == 0xf0 && second < 0x90) return 0;   // overlong
    if (first == 0xf4 && second >= 0x90) return 0;  // past U+10FFFF
    return length;
}

bool is_utf8(std::string_view text) {
    constexpr uint64_t kBeyondAscii = 0x8080808080808080;
    while (!text.empty()) {
        if (text.size() >= sizeof(uint64_t)) {  // fast path: eight ASCII bytes at a time
            uint64_t word = 0;
            std::memcpy(&word, text.data(), sizeof(word));
            if ((word & kBeyondAscii) == 0) {
                text.remove_prefix(sizeof(word));
                continue;
            }
        }
        const size_t length = utf8_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string to_utf8(std::string_view text) {
    if (is_utf8(text)) return std::string(text);
    std::string out;
    while (!text.empty()) {
        const size_t length = utf8_length(text);
        out += length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length);
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

}  // namespace rampart::base
