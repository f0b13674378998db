#include "text_rules.hpp"

#include <algorithm>

namespace rampart::notices {

void check_text(config::Table& table, std::string_view key, const std::string& text, size_t most) {
    if (text.empty() || text.size() > most)
        table.fail(key, fmt::format("has {} bytes; give 1 to {}", text.size(), most));
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; };
    if (std::any_of(text.begin(), text.end(), is_control))
        table.fail(key, "has a control character, such as the end of a line; write one line");
}

}  // namespace rampart::notices
