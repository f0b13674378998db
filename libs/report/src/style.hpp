#pragma once

#include <string_view>

namespace rampart::report {

/// The style sheet of all pages: colours for light and dark, texts, tables, drawings.
extern const std::string_view kStyleSheet;

}  // namespace rampart::report
