#include "rampart/http/request_id.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rampart/base/digest.hpp"

namespace rampart::http {
namespace {

bool is_safe(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("._:/+=-").find(c) != std::string_view::npos;
}

bool is_hex(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// Returns the trace id of "VV-TRACEID-PARENTID-FF"; empty: it is not of that form. Later versions
/// than 00 may have more parts.
std::string_view trace_id(std::string_view parent) {
    constexpr size_t kLength = 55;
    if (parent.size() < kLength || (parent.size() > kLength && parent[kLength] != '-')) return {};
    const auto version = parent.substr(0, 2), trace = parent.substr(3, 32),
               span = parent.substr(36, 16), flags = parent.substr(53, 2);
    const bool form = parent[2] == '-' && parent[35] == '-' && parent[52] == '-' &&
                      is_hex(version) && is_hex(trace) && is_hex(span) && is_hex(flags);
    if (!form || version == "ff" || (version == "00" && parent.size() > kLength)) return {};
    const bool none = trace.find_first_not_of('0') == std::string_view::npos;
    return none ? std::string_view() : trace;
}

}  // namespace

std::optional<std::string> given_request_id(const std::vector<Header>& headers) {
    const auto id = find_header(headers, "X-Request-Id");
    if (!id.empty() && id.size() <= kMaxRequestId && std::all_of(id.begin(), id.end(), is_safe)) {
        return std::string(id);
    }
    const auto trace = trace_id(find_header(headers, "traceparent"));
    if (trace.empty()) return std::nullopt;
    return std::string(trace);
}

RequestIds::RequestIds() : prefix_(base::to_hex(base::random_bytes(8))) {}

std::string RequestIds::next() {
    return fmt::format("{}-{:x}", prefix_, count_.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace rampart::http
