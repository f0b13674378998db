#pragma once

#include <string>

namespace CLI {
class App;
}

namespace rampart::cli {

inline constexpr size_t kHelpWidth = 100;

/// Returns the help of a command or of a family of commands: what it is for, how it is called, its
/// options by group, an example and the exit codes. No line is wider than kHelpWidth.
std::string help_text(const CLI::App& app);

/// Returns the text in lines of at most kHelpWidth characters, each after `indent` spaces; a line
/// break in the text stays one.
std::string wrapped(const std::string& text, size_t indent);

/// Returns a shell command in lines of at most kHelpWidth characters, each but the last with a
/// backslash at its end, so that it can be copied. Text in quotes is not broken.
std::string wrapped_command(const std::string& command);

}  // namespace rampart::cli
