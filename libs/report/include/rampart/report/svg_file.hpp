#pragma once

#include <string>
#include <string_view>

namespace rampart::report {

/// Returns one SVG file with the style sheet: no scripts, nothing fetched, readable in light and in
/// dark. `markup` is that of an Svg of this size. `title` names it, and `description` says all that
/// it shows to those who cannot see it.
std::string svg_file(double width, double height, std::string_view title,
                     std::string_view description, std::string_view markup);

}  // namespace rampart::report
