#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/http/response.hpp"
#include "services/rampartd/api/json.hpp"

/// What the routes of the node read and write.
namespace rampart::rampartd {

http::Response json_response(const Json& value);
http::Response respond(base::Result<http::Response> result);

using Members = std::map<std::string, std::string>;

/// An object with exactly these text members. invalid_argument "bad_json", "missing_field",
/// "unknown_field".
base::Result<Members> text_members(std::string_view body, const std::vector<std::string>& names);

/// A decimal number in [lo, hi]. invalid_argument "bad_number", naming the member.
base::Result<int64_t> number_of(std::string_view name, std::string_view text, int64_t lo,
                                int64_t hi);

/// A finite decimal number. invalid_argument "bad_number", naming the member.
base::Result<double> real_of(std::string_view name, std::string_view text);

/// "yes" or "no". invalid_argument "bad_flag", naming the member.
base::Result<bool> yes_or_no(std::string_view name, std::string_view text);

/// invalid_argument "reason_missing": the member "reason", for the audit log, is empty.
base::Status check_reason(const Members& members);

}  // namespace rampart::rampartd
