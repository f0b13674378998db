#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rampart::base {

/// Returns the number of bytes of the well-formed UTF-8 character (RFC 3629: no overlong forms, no
/// surrogates, at most U+10FFFF) at the front of the text; 0: ill-formed, or the text is empty.
size_t utf8_length(std::string_view text);

/// Returns whether the whole text is well-formed UTF-8.
bool is_utf8(std::string_view text);

/// Returns the text with U+FFFD in the place of each byte that is in no well-formed character.
std::string to_utf8(std::string_view text);

}  // namespace rampart::base
