#include "rampart/http/response.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "rampart/access/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

/// Returns the status of a reason for which it says more than that of its code.
std::optional<int> own_status_of(base::AnyReason reason) {
    static const std::pair<base::AnyReason, int> kStatuses[] = {
        {access::Reason::kUnauthenticated, 401}, {access::Reason::kTokenExpired, 401},
        {Reason::kMethodNotAllowed, 405},        {Reason::kBodyTooLarge, 413},
        {Reason::kTooManyRequests, 429},         {Reason::kHeadersTooLarge, 431}};
    for (const auto& [own, status] : kStatuses)
        if (&*own == &*reason) return status;
    return std::nullopt;
}

}  // namespace

std::string_view Response::header(std::string_view name) const {
    return find_header(headers, name);
}

int status_of(base::ErrorCode code) {
    switch (code) {
        case base::ErrorCode::kInvalidArgument:
            return 400;
        case base::ErrorCode::kNotFound:
            return 404;
        case base::ErrorCode::kAlreadyExists:
            return 409;
        case base::ErrorCode::kFailedPrecondition:
            return 409;
        case base::ErrorCode::kOutOfRange:
            return 422;
        case base::ErrorCode::kResourceExhausted:
            return 503;
        case base::ErrorCode::kPermissionDenied:
            return 403;
        case base::ErrorCode::kUnavailable:
            return 503;
        case base::ErrorCode::kDataLoss:
            return 500;
        case base::ErrorCode::kInternal:
            return 500;
    }
    return 500;
}

int status_of(base::AnyReason reason) {
    return own_status_of(reason).value_or(status_of(reason->code));
}

Response error_response(const base::Error& error) {
    return error_response(error, status_of(error.code));
}

Response error_response(const base::Error& error, int status) {
    Response response;
    response.status = status;
    response.body = fmt::format(R"({{"error":{{"code":"{}","reason":{},"message":{}}}}})",
                                base::to_string(error.code), json_quoted(error.reason),
                                json_quoted(error.message));
    response.reason = error.reason;
    if (status == 503 || status == 429) response.headers.push_back({"Retry-After", "1"});
    return response;
}

std::string json_quoted(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const size_t length = base::utf8_length(text);
        const char c = text.front();
        if (length == 0) {
            out += "\xEF\xBF\xBD";
        } else if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            out += text.substr(0, length);
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return out + '"';
}

}  // namespace rampart::http
