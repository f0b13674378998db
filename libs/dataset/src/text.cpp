#include "rampart/dataset/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace rampart::dataset {
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
