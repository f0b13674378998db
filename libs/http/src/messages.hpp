#pragma once

#include <boost/beast/http.hpp>
#include <chrono>
#include <optional>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/http/reasons.hpp"
#include "rampart/http/request.hpp"
#include "rampart/http/response.hpp"

/// Requests and responses as Boost.Beast has them, and the server's own refusals.
namespace rampart::http {

namespace bhttp = boost::beast::http;
using Head = bhttp::request<bhttp::string_body>;

Response refusal(Reason reason, std::string_view message);
Response overloaded();
Response administrative_busy();
Response waited_too_long();
Response handler_failed();
Response too_many_bytes();
/// `wait`: until the caller may go on.
Response too_many_requests(std::string_view caller, std::chrono::duration<double> wait);
Response too_many_of_principal(std::string_view principal, size_t most);
/// Returns why the message is not one request with a known end. Two readers of it, such as a proxy
/// and this server, must agree on where the next request begins.
std::optional<Response> framing_error(const Head& head);
/// Converts all except the body. Errors: those of parse_target.
base::Result<Request> to_request(const Head& head);
/// Adds the headers that every response has. `head`: without the body.
bhttp::response<bhttp::string_body> to_message(Response&& response, bool keep_alive, bool head);

}  // namespace rampart::http
