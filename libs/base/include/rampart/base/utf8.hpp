#pragma once

#include <cstddef>
#include <string_view>

namespace rampart::base {

/// Bytes of the well-formed UTF-8 character (RFC 3629: no overlong forms, no surrogates, at most
/// U+10FFFF) at the front of the text; 0: there is none, or the text is empty.
size_t utf8_length(std::string_view text);

/// Nothing but such characters.
bool is_utf8(std::string_view text);

}  // namespace rampart::base
