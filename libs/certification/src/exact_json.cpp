#include "exact_json.hpp"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <exception>
#include <string>

#include "rampart/certification/reasons.hpp"

namespace rampart::certification {
namespace {

namespace json = boost::json;
using json::error_code;
using json::string_view;

/// Builds a value like boost::json::parser does, but keeps the characters of each number.
struct Handler {
    static constexpr size_t max_object_size = 1 << 20;
    static constexpr size_t max_array_size = 1 << 20;
    static constexpr size_t max_key_size = 1 << 12;
    static constexpr size_t max_string_size = 1 << 26;

    json::value_stack stack;
    std::string number;

    bool on_document_begin(error_code&) {
        stack.reset();
        return true;
    }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) { return true; }
    bool on_object_end(size_t n, error_code&) {
        stack.push_object(n);
        return true;
    }
    bool on_array_begin(error_code&) { return true; }
    bool on_array_end(size_t n, error_code&) {
        stack.push_array(n);
        return true;
    }
    bool on_key_part(string_view s, size_t, error_code&) {
        stack.push_chars(s);
        return true;
    }
    bool on_key(string_view s, size_t, error_code&) {
        stack.push_key(s);
        return true;
    }
    bool on_string_part(string_view s, size_t, error_code&) {
        stack.push_chars(s);
        return true;
    }
    bool on_string(string_view s, size_t, error_code&) {
        stack.push_string(s);
        return true;
    }
    bool on_number_part(string_view s, error_code&) {
        number.append(s.data(), s.size());
        return true;
    }
    bool on_int64(int64_t i, string_view, error_code&) {
        number.clear();
        stack.push_int64(i);
        return true;
    }
    bool on_uint64(uint64_t u, string_view, error_code&) {
        number.clear();
        stack.push_uint64(u);
        return true;
    }
    bool on_double(double, string_view s, error_code& ec) {
        number.append(s.data(), s.size());
        double exact = 0;
        const char* end = number.data() + number.size();
        const auto result = std::from_chars(number.data(), end, exact);
        if (result.ec != std::errc() || result.ptr != end) {
            ec = json::error::not_number;
            return false;
        }
        number.clear();
        stack.push_double(exact);
        return true;
    }
    bool on_bool(bool b, error_code&) {
        stack.push_bool(b);
        return true;
    }
    bool on_null(error_code&) {
        stack.push_null();
        return true;
    }
    bool on_comment_part(string_view, error_code&) { return true; }
    bool on_comment(string_view, error_code&) { return true; }
};

}  // namespace

base::Result<json::value> parse_exactly(std::string_view text) {
    try {
        json::parse_options options;
        options.max_depth = 32;
        json::basic_parser<Handler> parser(options);
        error_code ec;
        const size_t n = parser.write_some(false, text.data(), text.size(), ec);
        if (ec) return base::make_error(Reason::kBadJson, "byte {}: {}", n, ec.message());
        if (n != text.size())
            return base::make_error(Reason::kBadJson, "byte {}: text after the end", n);
        return parser.handler().stack.release();
    } catch (const std::exception& e) {
        return base::make_error(Reason::kBadJson, "cannot be read: {}", e.what());
    }
}

}  // namespace rampart::certification
