#include "frame/printable.hpp"

#include <fmt/format.h>

#include "rampart/base/utf8.hpp"

namespace rampart::cli {
namespace {

/// Whether a character of `length` bytes at the front is a control character; C1 has two bytes.
bool is_control(std::string_view text, size_t length) {
    const auto first = static_cast<unsigned char>(text[0]);
    if (length == 1) return first < 0x20 || first == 0x7f;
    return length == 2 && first == 0xc2 && static_cast<unsigned char>(text[1]) < 0xa0;
}

std::string escaped(std::string_view text, bool keep_lines) {
    std::string out;
    while (!text.empty()) {
        const size_t length = base::utf8_length(text);
        const char c = text[0];
        const bool line = c == '\n' || c == '\t';
        if (line && !keep_lines) {
            out += c == '\n' ? "\\n" : "\\t";
        } else if (length == 0 || (is_control(text, length) && !line)) {
            // a C1 character is known by its second byte
            out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[length == 2 ? 1 : 0]));
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out;
}

}  // namespace

std::string printable(std::string_view text) { return escaped(text, false); }

std::string printable_lines(std::string_view text) { return escaped(text, true); }

}  // namespace rampart::cli
