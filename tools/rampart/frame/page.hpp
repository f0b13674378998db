#pragma once

#include <string>
#include <string_view>

/// What the pages have in common: one file each, no scripts, no links, nothing fetched.
namespace rampart::cli {

/// Colours for light and dark, tables, figures.
extern const std::string_view kPageStyle;

/// As text of an element or of an attribute; control characters become U+FFFD.
std::string escaped(std::string_view text);

}  // namespace rampart::cli
