#include "rampart/dataset/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>

namespace rampart::dataset {
namespace {

/// Length of the well-formed character at the front of the text, 0 if there is none.
size_t character_length(std::string_view text) {
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

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const size_t length = character_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::optional<double> parse_number(std::string_view text) {
    constexpr std::string_view kSpaces = " \t";
    const size_t begin = text.find_first_not_of(kSpaces);
    if (begin == std::string_view::npos) return std::nullopt;
    text = text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
    if (text.front() == '+') {
        text.remove_prefix(1);
        if (text.starts_with('-')) return std::nullopt;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
        return std::nullopt;
    }
    return value;
}

std::string number_text(double value) { return fmt::format("{}", value); }

}  // namespace rampart::dataset
