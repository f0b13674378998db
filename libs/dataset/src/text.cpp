#include "rampart/dataset/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace rampart::dataset {
namespace {

/// Parses "39", "-1.50": at most 15 digits and an optional point. Both the digits and the power of
/// ten are exact as doubles, so that the one division rounds correctly (Clinger 1990).
std::optional<double> parse_plain(std::string_view text) {
    constexpr size_t kMostDigits = 15;
    constexpr std::array<double, kMostDigits + 1> kPowers{
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    if (text.empty() || text.size() > kMostDigits + 1) return std::nullopt;
    uint64_t digits = 0;
    size_t point = text.size();
    for (size_t i = 0; i < text.size(); ++i) {
        const auto digit = static_cast<unsigned>(text[i] - '0');
        if (digit <= 9) {
            digits = 10 * digits + digit;
        } else if (text[i] == '.' && point == text.size()) {
            point = i;
        } else {
            return std::nullopt;
        }
    }
    const bool has_point = point < text.size();
    const size_t count = text.size() - (has_point ? 1 : 0);
    if (count == 0 || count > kMostDigits) return std::nullopt;
    const auto value = static_cast<double>(digits);
    const double scaled = has_point ? value / kPowers[text.size() - point - 1] : value;
    return negative ? -scaled : scaled;
}

}  // namespace

std::optional<double> parse_number(std::string_view text) {
    if (const auto plain = parse_plain(text)) return plain;
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
