#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rampart::dataset {

/// The whole text as a finite decimal number ("39", "-1.5e3", "+2"), spaces and tabs around it
/// allowed; nullopt for anything else, "inf", "nan", hexadecimal and numbers past the range of a
/// double among them.
std::optional<double> parse_number(std::string_view text);

/// The shortest text that reads back as the number: "2" for 2.0, "0.1" for 0.1.
std::string number_text(double value);

}  // namespace rampart::dataset
