#pragma once

#include <string_view>

namespace rampart::constraints {

/// Returns whether a name is a word of the language: such a feature is written in backticks.
bool is_reserved(std::string_view word);
/// Returns whether a name needs no backticks: letters, digits, '_' and '.', not beginning with a
/// digit or '.'.
bool is_plain_name(std::string_view word);

inline bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_name_part(char c) { return is_name_start(c) || is_digit(c) || c == '.'; }

}  // namespace rampart::constraints
