#include "messages.hpp"

#include <algorithm>
#include <cmath>

namespace rampart::http {

namespace beast = boost::beast;
namespace {

/// Returns whether the text is a host with or without a port, or empty (RFC 9110 section 7.2).
bool is_host(std::string_view text) {
    const auto has_only = [](std::string_view part, std::string_view others) {
        return std::all_of(part.begin(), part.end(), [&](char c) {
            return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                   others.find(c) != others.npos;
        });
    };
    constexpr std::string_view kOfNames = "-._~%!$&'()*+,;=", kOfAddresses = "-._~%!$&'()*+,;=:";
    const bool bracketed = text.starts_with('[');
    const size_t host = bracketed ? std::min(text.find(']'), text.size()) : text.find(':');
    const auto name = text.substr(bracketed ? 1 : 0, bracketed ? host - 1 : host);
    auto port = text.substr(std::min(text.size(), host + (bracketed ? 1 : 0)));
    if (bracketed && (host == text.size() || name.empty())) return false;
    if (!port.empty() && port.front() != ':') return false;
    if (!port.empty()) port.remove_prefix(1);
    return has_only(name, bracketed ? kOfAddresses : kOfNames) &&
           port.find_first_not_of("0123456789") == port.npos;
}

}  // namespace

Response refusal(Reason reason, std::string_view message) {
    return error_response(base::make_error(reason, "{}", message), status_of(reason));
}

Response overloaded() {
    return error_response(
        base::make_error(Reason::kTooManyConnections,
                         "the service has reached its limit of connections; retry later"));
}

Response administrative_busy() {
    return error_response(
        base::make_error(Reason::kAdministrativeBusy,
                         "all threads for administrative requests are busy or wait for a training "
                         "run; nothing was done, retry later"));
}

Response waited_too_long() {
    return error_response(base::make_error(
        Reason::kWaitTooLong,
        "requests wait longer than http.longest_wait_ms for their turn; nothing was done, retry "
        "later"));
}

Response handler_failed() {
    return error_response(
        base::make_error(Reason::kHandlerFailed, "the request failed inside the service"));
}

Response too_many_bytes() {
    return error_response(
        base::make_error(Reason::kTooManyBytes,
                         "the bodies of the requests under way fill http.body_mib_in_flight; "
                         "nothing was done, retry later"));
}

Response too_many_requests(std::string_view caller, std::chrono::duration<double> wait) {
    const auto seconds = static_cast<int64_t>(std::ceil(wait.count()));
    auto response = error_response(
        base::make_error(Reason::kTooManyRequests,
                         "{} has reached its limit of requests each second; nothing was done, go "
                         "on in {} s",
                         caller, seconds),
        status_of(Reason::kTooManyRequests));
    response.headers = {{"Retry-After", std::to_string(seconds)}};
    return response;
}

Response too_many_of_principal(std::string_view principal, size_t most) {
    return error_response(
        base::make_error(Reason::kTooManyConnectionsOfPrincipal,
                         "the principal '{}' has {} connections, as many as it may have "
                         "(http.connections_by_principal); nothing was done, use those",
                         principal, most),
        status_of(Reason::kTooManyConnectionsOfPrincipal));
}

std::optional<Response> framing_error(const Head& head) {
    if (head.count(bhttp::field::host) > 1 ||
        (head.version() >= 11 && head.count(bhttp::field::host) == 0)) {
        return refusal(Reason::kBadHost, "a request must have exactly one Host header");
    }
    if (!is_host(head[bhttp::field::host]))
        return refusal(Reason::kBadHost, "the Host header must have a host, and may have a port");
    if (head.version() < 11 && head.count(bhttp::field::transfer_encoding) > 0)
        return refusal(Reason::kBadTransferEncoding, "HTTP/1.0 has no Transfer-Encoding");
    if (const auto codings = head.count(bhttp::field::transfer_encoding);
        codings > 1 ||
        (codings == 1 && !beast::iequals(head[bhttp::field::transfer_encoding], "chunked"))) {
        return refusal(Reason::kBadTransferEncoding,
                       "the only supported Transfer-Encoding is 'chunked'");
    }
    return std::nullopt;
}

base::Result<Request> to_request(const Head& head) {
    Request request;
    request.method = std::string(head.method_string());
    for (const auto& field : head) {
        request.headers.push_back({std::string(field.name_string()), std::string(field.value())});
    }
    RAMPART_RETURN_IF_ERROR(parse_target(std::string(head.target()), request));
    return request;
}

bhttp::response<bhttp::string_body> to_message(Response&& response, bool keep_alive, bool head) {
    bhttp::response<bhttp::string_body> message;
    message.version(11);
    message.result(static_cast<unsigned>(response.status));
    message.set(bhttp::field::content_type, response.content_type);
    message.set(bhttp::field::cache_control, "no-store");
    message.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : response.headers) message.set(name, value);
    message.body() = std::move(response.body);
    message.keep_alive(keep_alive);
    message.prepare_payload();
    if (head) message.body().clear();  // the Content-Length stays
    return message;
}

}  // namespace rampart::http
