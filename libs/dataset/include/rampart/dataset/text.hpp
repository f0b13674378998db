#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rampart::dataset {

/// Well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
bool is_utf8(std::string_view text);

/// The whole text as a finite decimal number ("39", "-1.5e3", "+2"), spaces and tabs around it
/// allowed; nullopt for anything else, "inf", "nan", hexadecimal and numbers past the range of a
/// double among them.
std::optional<double> parse_number(std::string_view text);

/// The shortest text that reads back as the number: "2" for 2.0, "0.1" for 0.1.
std::string number_text(double value);

}  // namespace rampart::dataset
