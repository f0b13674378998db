#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::http {

/// Case does not matter in a header's name.
struct Header {
    std::string name, value;
};

/// The value of the first header of that name; empty: none.
std::string_view find_header(const std::vector<Header>& headers, std::string_view name);

/// One request, read whole and within the server's limits.
struct Request {
    std::string method;                        // "GET"
    std::string path;                          // percent-decoded, without the query: "/v1/x"
    std::map<std::string, std::string> query;  // percent-decoded
    std::vector<Header> headers;
    std::string body;
    std::map<std::string, std::string> path_values;  // filled by the router: {"id": "d1"}

    std::string_view header(std::string_view name) const;  // as find_header
};

/// Splits "/v1/x?a=1&b=%20" into path and query. invalid_argument: no leading '/', a broken
/// percent-escape, an encoded '/' or NUL in the path, a parameter given twice.
base::Status parse_target(std::string_view target, Request& out);

}  // namespace rampart::http
