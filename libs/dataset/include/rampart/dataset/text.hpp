#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rampart::dataset {

/// Parses the whole text as a finite decimal number ("39", "-1.5e3", "+2"); spaces and tabs around
/// it are allowed. Returns nullopt for anything else, also "inf", "nan", hexadecimal and numbers
/// beyond the range of a double.
std::optional<double> parse_number(std::string_view text);

/// Returns the shortest text that parses back to the number: "2" for 2.0, "0.1" for 0.1.
std::string number_text(double value);

}  // namespace rampart::dataset
