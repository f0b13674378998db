#pragma once

#include <boost/json.hpp>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/http/response.hpp"

/// What the routes of the node read and write.
namespace rampart::rampartd {

http::Response json_response(const boost::json::value& value);
http::Response respond(base::Result<http::Response> result);

/// An object with exactly these text members. invalid_argument "bad_json", "missing_field",
/// "unknown_field".
base::Result<std::map<std::string, std::string>> text_members(
    std::string_view body, const std::vector<std::string>& names);

/// A decimal number in [lo, hi]. invalid_argument "bad_number", naming the member.
base::Result<int64_t> number_of(std::string_view name, std::string_view text, int64_t lo,
                                int64_t hi);

}  // namespace rampart::rampartd
