#pragma once

#include <string>
#include <string_view>

#include "rampart/base/bytes.hpp"

namespace rampart::registry {

/// Returns what is signed of a notice: its kind, so that a signature holds for no other kind, and
/// its body.
inline std::string notice_message(std::string_view kind, std::string_view body) {
    std::string message;
    base::append_field(message, kind);
    base::append_field(message, body);
    return message;
}

}  // namespace rampart::registry
