#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "rampart/base/result.hpp"

namespace rampart::certification {

/// JSON text to a value whose numbers are the nearest doubles. (boost::json::parse of 1.81 is off
/// by one unit in the last place for about one number in ten, which would break recomputing bit for
/// bit.) Errors: data_loss naming what is wrong; nesting is limited to 32.
base::Result<boost::json::value> parse_exactly(std::string_view text);

}  // namespace rampart::certification
