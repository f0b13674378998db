#include "rampart/http/response.hpp"

#include <fmt/format.h>

namespace rampart::http {

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

Response error_response(const base::Error& error) {
    return error_response(error, status_of(error.code));
}

Response error_response(const base::Error& error, int status) {
    Response response;
    response.status = status;
    response.body = fmt::format(R"({{"error":{{"code":"{}","reason":{},"message":{}}}}})",
                                base::to_string(error.code), json_quoted(error.reason),
                                json_quoted(error.message));
    if (status == 503) response.headers.push_back({"Retry-After", "1"});
    return response;
}

namespace {

/// Length of the UTF-8 sequence (RFC 3629) at the front of `text`; 0: there is none.
size_t utf8_length(std::string_view text) {
    const auto byte = [&](size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
    };
    const auto tail = [&](size_t i) { return byte(i) >= 0x80 && byte(i) <= 0xBF; };
    const unsigned first = byte(0), second = byte(1);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return tail(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && second < 0xA0;
        const bool surrogate = first == 0xED && second > 0x9F;
        return tail(1) && tail(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && second < 0x90;
        const bool beyond = first == 0xF4 && second > 0x8F;
        return tail(1) && tail(2) && tail(3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

}  // namespace

std::string json_quoted(std::string_view text) {
    std::string out = "\"";
    while (!text.empty()) {
        const size_t length = utf8_length(text);
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
