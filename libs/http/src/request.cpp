#include "rampart/http/request.hpp"

#include <algorithm>
#include <optional>

#include "rampart/http/reasons.hpp"

namespace rampart::http {
namespace {

bool same_name(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [&](char x, char y) { return lower(x) == lower(y); });
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Decodes percent-escapes. `plus_is_space`: as in query strings of forms.
std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
    std::string out;
    out.reserve(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus_is_space) {
            out += ' ';
        } else if (text[i] != '%') {
            out += text[i];
        } else {
            if (i + 2 >= text.size()) return std::nullopt;
            const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            out += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return out;
}

base::Error bad_target(std::string_view why) {
    return base::make_error(Reason::kBadTarget, "the request's target {}", why);
}

}  // namespace

std::string_view find_header(const std::vector<Header>& headers, std::string_view name) {
    for (const auto& header : headers) {
        if (same_name(header.name, name)) return header.value;
    }
    return {};
}

std::string_view Request::header(std::string_view name) const { return find_header(headers, name); }

base::Status parse_target(std::string_view target, Request& out) {
    if (target.empty() || target.front() != '/') return bad_target("does not begin with '/'");
    const size_t question = target.find('?');
    const auto raw_path = target.substr(0, question);
    auto path = percent_decode(raw_path, false);
    if (!path) return bad_target("has a broken percent-escape in its path");
    // an encoded '/' would shift the segments that the router matches
    if (std::count(path->begin(), path->end(), '/') !=
            std::count(raw_path.begin(), raw_path.end(), '/') ||
        path->find('\0') != std::string::npos) {
        return bad_target("may not hold an encoded '/' or NUL in its path");
    }
    out.path = std::move(*path);
    out.query.clear();
    std::string_view rest =
        question == std::string_view::npos ? std::string_view() : target.substr(question + 1);
    while (!rest.empty()) {
        const auto pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
        if (pair.empty()) continue;
        const size_t equals = std::min(pair.find('='), pair.size());
        auto name = percent_decode(pair.substr(0, equals), true);
        auto value = percent_decode(pair.substr(std::min(pair.size(), equals + 1)), true);
        if (!name || !value) return bad_target("has a broken percent-escape in its query");
        if (!out.query.emplace(std::move(*name), std::move(*value)).second) {
            return bad_target("gives a query parameter twice");
        }
    }
    return base::ok();
}

}  // namespace rampart::http
