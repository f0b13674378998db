#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/access/scope.hpp"
#include "rampart/base/result.hpp"

namespace rampart::http {

/// A header; its name is case-insensitive.
struct Header {
    std::string name, value;
};

/// Returns the value of the first header with this name; empty: none.
std::string_view find_header(const std::vector<Header>& headers, std::string_view name);

/// One complete request, within the server's limits.
struct Request {
    std::string method;                        // "GET"
    std::string path;                          // percent-decoded, without the query: "/v1/x"
    std::map<std::string, std::string> query;  // percent-decoded
    std::vector<Header> headers;
    std::string body;
    std::map<std::string, std::string> path_values;  // set by the router: {"id": "d1"}
    std::string id{};  // set by the server: the client's, or a new one; for the lines of the log
    // Set by the server: one name in the certificate that the client has shown, with its kind:
    // "URI:…", "DNS:…", "email:…", otherwise "subject:CN=…"; empty: none was shown.
    std::string client{};
    std::string address{};  // set by the server: the client's numeric address, without the port
    // Set by the router: the name of the principal who calls; empty: the route is open to all.
    std::string principal{};
    access::Scopes scopes{};  // set by the router: those of the principal

    std::string_view header(std::string_view name) const;  // as find_header
};

/// Splits "/v1/x?a=1&b=%20" into path and query. Fails with invalid_argument: no leading '/', a
/// broken percent-escape, an encoded '/' or NUL in the path, a repeated parameter.
base::Status parse_target(std::string_view target, Request& out);

}  // namespace rampart::http
