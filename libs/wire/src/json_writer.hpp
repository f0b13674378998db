#pragma once

#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"

/// Appends JSON to a string, for the codecs of this library only.
namespace rampart::wire {

/// Quotes and escapes; `text` must be UTF-8.
std::string json_string(std::string_view text);
/// Returns the shortest text that parses back to the same bits; `value` must be finite.
std::string json_number(double value);
std::string json_time(base::TimePoint time);

}  // namespace rampart::wire
