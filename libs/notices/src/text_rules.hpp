#pragma once

#include <string>
#include <string_view>

#include "rampart/config/table.hpp"

namespace rampart::notices {

/// Fails at the key unless the text has 1 to `most` bytes and no control characters, so that it is
/// the same on paper as in the file.
void check_text(config::Table& table, std::string_view key, const std::string& text, size_t most);

}  // namespace rampart::notices
