#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/error.hpp"
#include "rampart/http/request.hpp"
#include "rampart/http/response_stream.hpp"

namespace rampart::http {

struct Response {
    int status = 200;
    std::string body;
    std::string content_type = "application/json";
    std::vector<Header> headers;  // other than Content-Type, Content-Length, Connection
    std::string reason{};         // what an error document gives, for the log; not sent
    // Set: what it sends is the body, in place of `body`, and then the connection is closed.
    std::shared_ptr<ResponseStream> stream{};

    std::string_view header(std::string_view name) const;  // as find_header
};

/// Returns the HTTP status of a code: invalid_argument 400, not_found 404, already_exists 409,
/// failed_precondition 409, out_of_range 422, resource_exhausted 503, permission_denied 403,
/// unavailable 503, data_loss 500, internal 500.
int status_of(base::ErrorCode code);
/// Returns the status with which a reason is answered: that of its code, but unauthenticated and
/// token_expired 401, method_not_allowed 405, body_too_large 413, too_many_requests 429,
/// headers_too_large 431.
int status_of(base::AnyReason reason);

/// A member of a problem document beside those that each has: an extension of RFC 9457.
struct ProblemMember {
    std::string name, value;
};

/// Returns a problem document (RFC 9457, application/problem+json) with the code's status or the
/// given one; every 429 and 503 has Retry-After: 1. Its members: type, title, status, detail; code,
/// reason; field, where field_of() finds one; remedy, where the reason's list is known
/// (know_reasons()); `more`; error, with code, reason and message, for clients of earlier releases
/// (deprecated). It has no instance: the response's X-Request-Id says which request it was.
Response error_response(const base::Error& error);
Response error_response(const base::Error& error, int status,
                        std::span<const ProblemMember> more = {});

/// Returns the path of the member or parameter that an error of input is about, as in
/// "applications[3].features.income": what its message begins with, up to ": ", without "$." and
/// the number of a line. Empty: it names none.
std::string field_of(const base::Error& error);

/// Lets problem documents have the remedies of these lists, beside those of this room. A program
/// does it once, before it has a server. The lists must last as long as the program.
void know_reasons(std::span<const std::span<const base::ReasonInfo>> lists);

/// Returns `text` as a JSON string with quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_quoted(std::string_view text);

}  // namespace rampart::http
