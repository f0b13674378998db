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
        {access::Reason::kUnauthenticated, 401},
        {access::Reason::kTokenExpired, 401},
        {access::Reason::kSessionEnded, 401},
        {Reason::kMethodNotAllowed, 405},
        {Reason::kBodyTooLarge, 413},
        {Reason::kTooManyRequests, 429},
        {Reason::kTooManyConnectionsOfPrincipal, 429},
        {Reason::kHeadersTooLarge, 431}};
    for (const auto& [own, status] : kStatuses)
        if (&*own == &*reason) return status;
    return std::nullopt;
}

using Lists = std::vector<std::span<const base::ReasonInfo>>;
Lists& known_lists() {
    static Lists lists{reasons::kAll, access::reasons::kAll};
    return lists;
}

/// Returns what to do about the reason; empty: its list is not known. A word has one remedy in all
/// lists.
std::string_view remedy_of(std::string_view word) {
    for (const auto& list : known_lists())
        for (const auto& info : list)
            if (info.word == word) return info.remedy;
    return {};
}

bool is_small(char c) { return c >= 'a' && c <= 'z'; }

/// Returns "Unknown feature" for "unknown_feature".
std::string title_of(std::string_view reason) {
    std::string title(reason);
    for (char& c : title)
        if (c == '_') c = ' ';
    if (!title.empty() && is_small(title[0])) title[0] = static_cast<char>(title[0] - 32);
    return title;
}

/// Takes what the text begins with, up to ": ". Returns an empty text if that is no path of a
/// member.
std::string_view next_path(std::string_view& text) {
    const auto path = text.substr(0, text.find(": "));
    if (path.size() == text.size() || path.empty() || !is_small(path.front())) return {};
    for (const char c : path)
        if (!is_small(c) && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
            std::string_view("._[]-").find(c) == std::string_view::npos)
            return {};
    text.remove_prefix(path.size() + 2);
    return path;
}

/// Returns the text without its beginning "line 12: ".
std::string_view without_line(std::string_view text) {
    constexpr std::string_view kLine = "line ";
    if (!text.starts_with(kLine)) return text;
    const size_t end = text.find_first_not_of("0123456789", kLine.size());
    const bool numbered = end != text.npos && end > kLine.size();
    return numbered && text.substr(end).starts_with(": ") ? text.substr(end + 2) : text;
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

Response error_response(const base::Error& error, int status, std::span<const ProblemMember> more) {
    Response response;
    response.status = status;
    response.content_type = "application/problem+json";
    const auto code = base::to_string(error.code);
    const auto reason = json_quoted(error.reason);
    const auto detail = json_quoted(error.message);
    response.body = fmt::format(R"({{"type":{},"title":{},"status":{},"detail":{},)",
                                json_quoted("urn:rampart:reason:" + error.reason),
                                json_quoted(title_of(error.reason)), status, detail);
    response.body += fmt::format(R"("code":"{}","reason":{})", code, reason);
    if (const auto field = field_of(error); !field.empty())
        response.body += fmt::format(R"(,"field":{})", json_quoted(field));
    if (const auto remedy = remedy_of(error.reason); !remedy.empty())
        response.body += fmt::format(R"(,"remedy":{})", json_quoted(remedy));
    for (const auto& [name, value] : more)
        response.body += fmt::format(R"(,{}:{})", json_quoted(name), json_quoted(value));
    response.body +=
        fmt::format(R"(,"error":{{"code":"{}","reason":{},"message":{}}}}})", code, reason, detail);
    response.reason = error.reason;
    if (status == 503 || status == 429) response.headers.push_back({"Retry-After", "1"});
    return response;
}

std::string field_of(const base::Error& error) {
    if (error.code != base::ErrorCode::kInvalidArgument &&
        error.code != base::ErrorCode::kOutOfRange)
        return {};
    std::string_view text = without_line(error.message);
    if (text.starts_with("$.")) text.remove_prefix(2);
    std::string field(next_path(text));
    // "applications[3]: person_id: …"
    if (field.ends_with(']'))
        if (const auto member = next_path(text); !member.empty())
            field += fmt::format(".{}", member);
    return field;
}

void know_reasons(std::span<const std::span<const base::ReasonInfo>> lists) {
    known_lists().insert(known_lists().end(), lists.begin(), lists.end());
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
