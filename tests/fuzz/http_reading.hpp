#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz.hpp"
#include "rampart/http/request.hpp"

/// A reader of HTTP/1.1 (RFC 9112) that shares nothing with the server: strict, and slow.
namespace rampart::fuzz {

/// What the server of the fuzzer is asked to allow.
inline constexpr size_t kMaxHead = 1024, kMaxBody = 2048;

inline bool is_token_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

inline bool is_token(std::string_view text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

inline bool is_digits(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

/// Returns whether the text has no control characters but tabs.
inline bool is_text(std::string_view text) {
    return std::none_of(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
}

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

inline std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
    return out;
}

/// Takes a line with its end; nullopt: it does not end.
inline std::optional<std::string_view> take_line(std::string_view& bytes) {
    const size_t end = bytes.find("\r\n");
    if (end == bytes.npos) return std::nullopt;
    const auto line = bytes.substr(0, end);
    bytes.remove_prefix(end + 2);
    return line;
}

inline bool take(std::string_view& text, char wanted) {
    if (text.empty() || text.front() != wanted) return false;
    text.remove_prefix(1);
    return true;
}

/// Splits at commas, and trims.
inline std::vector<std::string_view> listed(std::string_view text) {
    std::vector<std::string_view> parts;
    while (true) {
        const size_t comma = std::min(text.find(','), text.size());
        parts.push_back(trimmed(text.substr(0, comma)));
        if (comma == text.size()) return parts;
        text.remove_prefix(comma + 1);
    }
}

/// How far a message could be read.
enum class End {
    kWhole,
    kPart,  // the bytes end before it does
    kBad,   // it may not be answered as a request
};

struct Message {
    std::string method, target;
    bool current = true;  // HTTP/1.1, not 1.0
    std::vector<http::Header> headers;
    std::string body;
    std::optional<uint64_t> length;
    bool chunked = false, close = false;
    bool expects = false;   // 100 Continue
    bool doubtful = false;  // may also be refused
    bool head_request = false;

    bool has_body() const { return chunked || length.value_or(0) > 0; }
};

inline bool read_field(std::string_view line, std::vector<http::Header>& headers) {
    const size_t colon = line.find(':');
    if (colon == line.npos || !is_token(line.substr(0, colon)) || !is_text(line)) return false;
    headers.push_back(
        {std::string(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))});
    return true;
}

inline bool read_request_line(std::string_view line, Message& message) {
    const size_t first = line.find(' ');
    if (first == line.npos) return false;
    const size_t second = line.find(' ', first + 1);
    if (second == line.npos) return false;
    message.method = line.substr(0, first);
    message.target = line.substr(first + 1, second - first - 1);
    const auto version = line.substr(second + 1);
    message.current = version == "HTTP/1.1";
    return is_token(message.method) && !message.target.empty() && is_text(message.target) &&
           message.target.find('\t') == std::string::npos &&
           (message.current || version == "HTTP/1.0");
}

inline bool is_host(std::string_view text) {
    const size_t bracket = text.starts_with('[') ? text.find(']') : 0;
    if (bracket == text.npos || (text.starts_with('[') && bracket == 1)) return false;
    const size_t colon = std::min(text.find(':', bracket), text.size());
    if (bracket > 0 && colon != bracket + 1) return false;
    for (const char c : text.substr(0, colon)) {
        const bool of_address = bracket > 0 && std::string_view("[]:").find(c) < 3;
        if (!of_address && !(c != '#' && c != '^' && c != '`' && c != '|' && is_token_char(c)) &&
            std::string_view("(),;=").find(c) == std::string_view::npos)
            return false;
    }
    const auto inner = text.substr(std::min<size_t>(1, bracket), bracket > 0 ? bracket - 1 : 0);
    if (inner.find('[') != inner.npos) return false;
    return colon == text.size() || text.find_first_not_of("0123456789", colon + 1) == text.npos;
}

/// Reads one of the options of a connection; false: it is no list.
inline bool read_connection(std::string_view value, Message& message) {
    for (const auto part : listed(value)) {
        if (!part.empty() && !is_token(part)) return false;
        message.close = message.close || lower(part) == "close";
    }
    return true;
}

inline bool read_length(std::string_view value, Message& message) {
    for (const auto part : listed(value)) {
        if (!is_digits(part)) return false;
        uint64_t length = 0;
        for (const char c : part) {
            const auto digit = static_cast<uint64_t>(c - '0');
            if (length > (UINT64_MAX - digit) / 10) return false;
            length = length * 10 + digit;
        }
        if (message.length && *message.length != length) return false;
        message.length = length;
    }
    return true;
}

/// Reads what the headers say of the end of the message and of its connection.
inline bool read_framing(Message& message) {
    size_t hosts = 0, codings = 0, expectations = 0;
    for (const auto& header : message.headers) {
        const auto name = lower(header.name);
        if (name == "host") {
            ++hosts;
            if (!is_host(header.value)) return false;
        } else if (name == "connection" || name == "proxy-connection") {
            if (!read_connection(header.value, message)) return false;
        } else if (name == "content-length") {
            if (!read_length(header.value, message)) return false;
        } else if (name == "transfer-encoding") {
            ++codings;
            message.chunked = true;
            if (lower(header.value) != "chunked") return false;
        } else if (name == "expect" && ++expectations == 1) {
            message.expects = message.current && lower(header.value) == "100-continue";
        }
    }
    if (codings > 1 || (message.chunked && (message.length || !message.current))) return false;
    return hosts == 1 || (hosts == 0 && !message.current);
}

inline End read_head(std::string_view& bytes, Message& message) {
    const size_t before = bytes.size();
    const auto first = take_line(bytes);
    if (!first) return End::kPart;
    if (!read_request_line(*first, message)) return End::kBad;
    while (true) {
        const auto line = take_line(bytes);
        if (!line) return End::kPart;
        if (line->empty()) break;
        if (!read_field(*line, message.headers)) return End::kBad;  // also if it is folded
    }
    if (before - bytes.size() > kMaxHead || !read_framing(message)) return End::kBad;
    return End::kWhole;
}

inline bool take_token(std::string_view& text) {
    size_t length = 0;
    while (length < text.size() && is_token_char(text[length])) ++length;
    text.remove_prefix(length);
    return length > 0;
}

inline bool take_quoted(std::string_view& text) {
    if (!take(text, '"')) return false;
    while (!text.empty()) {
        if (take(text, '"')) return true;
        if (take(text, '\\') && text.empty()) return false;
        text.remove_prefix(1);
    }
    return false;
}

inline void skip_blanks(std::string_view& text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

/// Returns whether the text is what may follow the size of a chunk.
inline bool are_extensions(std::string_view text) {
    if (!is_text(text)) return false;
    while (!text.empty()) {
        skip_blanks(text);
        if (!take(text, ';')) return false;
        skip_blanks(text);
        if (!take_token(text)) return false;
        auto value = text;
        skip_blanks(value);
        if (!take(value, '=')) continue;
        skip_blanks(value);
        text = value;
        if (!take_token(text) && !take_quoted(text)) return false;
    }
    return true;
}

inline std::optional<uint64_t> take_size(std::string_view& line) {
    uint64_t size = 0;
    size_t digits = 0;
    for (; digits < line.size(); ++digits) {
        const size_t digit =
            std::string_view("0123456789abcdef").find(lower(line.substr(digits, 1)));
        if (digit == std::string_view::npos) break;
        if (size >> 60 != 0) return std::nullopt;
        size = size << 4 | digit;
    }
    line.remove_prefix(digits);
    return digits == 0 ? std::nullopt : std::optional(size);
}

/// Reads what may follow the last chunk. Trailers are dropped, so one that is folded does no harm.
inline End read_trailers(std::string_view& bytes, Message& message) {
    std::vector<http::Header> trailers;
    while (true) {
        const auto line = take_line(bytes);
        if (!line) return End::kPart;
        if (line->empty()) return End::kWhole;
        const bool folded = is_blank(line->front());
        if (folded ? trailers.empty() || !is_text(*line) : !read_field(*line, trailers))
            return End::kBad;
        const auto name = lower(trailers.back().name);
        if (name == "content-length" || name == "transfer-encoding") return End::kBad;
        if (name != "connection" && name != "proxy-connection") continue;
        Message ignored;
        message.doubtful = message.doubtful || folded;
        if (!message.doubtful && !read_connection(trailers.back().value, ignored)) {
            message.doubtful = true;  // it may go on in the next line
        }
    }
}

inline End read_chunks(std::string_view& bytes, Message& message) {
    while (true) {
        auto line = take_line(bytes);
        if (!line) return End::kPart;
        const auto size = take_size(*line);
        if (!size || !are_extensions(*line)) return End::kBad;
        if (*size == 0) return read_trailers(bytes, message);
        if (bytes.size() < *size) return End::kPart;
        message.body += bytes.substr(0, *size);
        bytes.remove_prefix(*size);
        if (bytes.size() < 2) return End::kPart;
        if (!bytes.starts_with("\r\n")) return End::kBad;
        bytes.remove_prefix(2);
    }
}

/// Takes one request. What comes after one that is not whole belongs to nothing.
inline End read_request(std::string_view& bytes, Message& message) {
    message.head_request = bytes.starts_with("HEAD ");
    if (const End end = read_head(bytes, message); end != End::kWhole) return end;
    if (message.chunked) return read_chunks(bytes, message);
    const uint64_t length = message.length.value_or(0);
    if (bytes.size() < length) return End::kPart;
    message.body = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return End::kWhole;
}

inline std::optional<std::string> decoded(std::string_view text, bool of_query) {
    std::string out;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '%') {
            auto digits = text.substr(i + 1, 2);
            const auto value = take_size(digits);
            if (!value || !digits.empty() || i + 2 >= text.size()) return std::nullopt;
            out += static_cast<char>(*value);
            i += 2;
        } else {
            out += of_query && text[i] == '+' ? ' ' : text[i];
        }
    }
    return out;
}

/// Reads the target; false: it is none that the server knows.
inline bool read_target(std::string_view target, http::Request& request) {
    const size_t question = std::min(target.find('?'), target.size());
    const auto path = decoded(target.substr(0, question), false);
    if (!target.starts_with('/') || !path || path->find('\0') != path->npos) return false;
    if (std::count(path->begin(), path->end(), '/') !=
        std::count(target.begin(), target.begin() + static_cast<std::ptrdiff_t>(question), '/'))
        return false;
    request.path = *path;
    auto query = target.substr(std::min(question + 1, target.size()));
    while (!query.empty()) {
        const size_t end = std::min(query.find('&'), query.size());
        const auto pair = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        if (pair.empty()) continue;
        const size_t equals = std::min(pair.find('='), pair.size());
        const auto name = decoded(pair.substr(0, equals), true);
        const auto value = decoded(pair.substr(std::min(equals + 1, pair.size())), true);
        if (!name || !value || request.query.contains(*name)) return false;
        request.query[*name] = *value;
    }
    return true;
}

struct Answer {
    int status = 0;
    std::vector<http::Header> headers;
    std::string body;
    bool closes = false;

    std::string_view header(std::string_view name) const {
        return http::find_header(headers, name);
    }
    size_t count(std::string_view name) const {
        return static_cast<size_t>(
            std::count_if(headers.begin(), headers.end(),
                          [&](const auto& header) { return lower(header.name) == lower(name); }));
    }
};

/// Takes one answer, which must be of the only form that the server writes. `to_head`: it answers
/// a HEAD.
inline Answer read_answer(std::string_view& bytes, bool to_head) {
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    Answer answer;
    const auto first = take_line(bytes);
    FUZZ_LAW(first && is_text(*first) && first->starts_with(kVersion) && first->size() > 13 &&
                 is_digits(first->substr(9, 3)) && (*first)[12] == ' ',
             "the line of an answer: '{}'", first.value_or(bytes));
    answer.status = std::stoi(std::string(first->substr(9, 3)));
    while (true) {
        const auto line = take_line(bytes);
        FUZZ_LAW(line, "headers without an end: '{}'", bytes);
        if (line->empty()) break;
        FUZZ_LAW(read_field(*line, answer.headers), "the header '{}'", *line);
    }
    if (answer.status == 100) {
        FUZZ_LAW(answer.headers.empty(), "100 Continue with headers");
        return answer;
    }
    for (const char* name : {"Content-Length", "Content-Type", "Cache-Control", "X-Request-Id",
                             "X-Content-Type-Options"})
        FUZZ_LAW(answer.count(name) == 1, "{} {} times", name, answer.count(name));
    FUZZ_LAW(answer.count("Transfer-Encoding") == 0, "an answer in chunks");
    const auto connection = answer.header("Connection");
    FUZZ_LAW(answer.count("Connection") <= 1 && (connection.empty() || connection == "close"),
             "Connection: {}", connection);
    answer.closes = connection == "close";
    const auto length = answer.header("Content-Length");
    FUZZ_LAW(is_digits(length) && length.size() < 10, "Content-Length: {}", length);
    if (to_head) return answer;
    const size_t size = std::stoul(std::string(length));
    FUZZ_LAW(bytes.size() >= size, "{} of {} bytes of an answer", bytes.size(), size);
    answer.body = bytes.substr(0, size);
    bytes.remove_prefix(size);
    return answer;
}

}  // namespace rampart::fuzz
