#pragma once

#include <string_view>

namespace rampart::constraints {

/// A word of the language, which a feature can only have as its name in backticks.
bool is_reserved(std::string_view word);
/// Letters, digits, '_' and '.', not beginning with a digit or '.': needs no backticks.
bool is_plain_name(std::string_view word);

inline bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_part(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }

}  // namespace rampart::constraints
