#pragma once

#include <string>
#include <string_view>

/// Text of others (reasons, names, features) in what a terminal shows.
namespace rampart::cli {

/// Returns the text on one line, in which nothing moves the cursor or ends the line: control
/// characters (C0, DEL, C1) as \n, \t or \xNN, and so each byte that is not UTF-8.
std::string printable(std::string_view text);

/// Returns the same with its ends of lines and tabs as they are.
std::string printable_lines(std::string_view text);

}  // namespace rampart::cli
