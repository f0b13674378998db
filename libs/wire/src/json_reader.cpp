#include "json_reader.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/wire/reasons.hpp"

namespace rampart::wire {
namespace {

using base::Error;
using base::Result;
using base::Status;
using boost::json::error_code;
using Kind = JsonValue::Kind;
using Text = boost::json::string_view;

constexpr size_t kMaxDepth = 16;

/// Builds the tree from Boost's parser events; duplicate keys and the text of numbers, which
/// Boost's own tree would lose, are available here.
class TreeBuilder {
  public:
    // limits that the parser requires
    static constexpr size_t max_object_size = base::limits::kMaxFeatures + 64;
    static constexpr size_t max_array_size = base::limits::kMaxBatch;
    static constexpr size_t max_key_size = base::limits::kMaxNameBytes;
    static constexpr size_t max_string_size = base::limits::kMaxTextBytes * 4;

    JsonValue root;
    std::string duplicate;

    bool on_document_begin(error_code&) { return true; }
    bool on_document_end(error_code&) { return true; }
    bool on_object_begin(error_code&) { return open(Kind::kObject); }
    bool on_array_begin(error_code&) { return open(Kind::kArray); }
    bool on_array_end(size_t, error_code&) { return close(); }
    bool on_object_end(size_t, error_code& ec) {
        std::vector<std::string_view> keys;
        for (const auto& [key, value] : open_.back()->members) keys.push_back(key);
        std::sort(keys.begin(), keys.end());
        const auto twice = std::adjacent_find(keys.begin(), keys.end());
        if (twice != keys.end()) {
            duplicate = *twice;
            ec = boost::json::error::syntax;
            return false;
        }
        return close();
    }
    bool on_key_part(Text part, size_t, error_code&) { return append(key_, part); }
    bool on_key(Text part, size_t, error_code&) { return append(key_, part); }
    bool on_string_part(Text part, size_t, error_code&) { return append(text_, part); }
    bool on_string(Text part, size_t, error_code&) {
        return append(text_, part) && leaf(Kind::kString);
    }
    bool on_number_part(Text part, error_code&) { return append(text_, part); }
    bool on_int64(int64_t, Text part, error_code&) { return number(part); }
    bool on_uint64(uint64_t, Text part, error_code&) { return number(part); }
    bool on_double(double, Text part, error_code&) { return number(part); }
    bool on_bool(bool value, error_code&) {
        leaf(Kind::kBoolean);
        last_->boolean = value;
        return true;
    }
    bool on_null(error_code&) { return leaf(Kind::kNull); }
    bool on_comment_part(Text, error_code&) { return true; }
    bool on_comment(Text, error_code&) { return true; }

  private:
    static bool append(std::string& to, Text part) {
        to.append(part.data(), part.size());
        return true;
    }
    bool number(Text part) { return append(text_, part) && leaf(Kind::kNumber); }

    bool leaf(Kind kind) {
        last_ = place();
        last_->kind = kind;
        last_->text = std::exchange(text_, {});
        return true;
    }
    bool open(Kind kind) {
        JsonValue* value = place();
        value->kind = kind;
        open_.push_back(value);
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }
    /// Returns the place of the next value. A container grows only while it is the innermost open
    /// one, so pointers to open containers stay valid.
    JsonValue* place() {
        if (open_.empty()) return &root;
        JsonValue& parent = *open_.back();
        if (parent.kind == Kind::kArray) return &parent.elements.emplace_back();
        JsonValue::Member& member = parent.members.emplace_back();
        member.key = std::exchange(key_, {});
        return &member.value;
    }

    std::vector<JsonValue*> open_;
    JsonValue* last_ = nullptr;
    std::string key_, text_;
};

bool is_limit(const error_code& ec) {
    using boost::json::error;
    return ec == error::object_too_large || ec == error::array_too_large ||
           ec == error::key_too_large || ec == error::string_too_large || ec == error::too_deep;
}

}  // namespace

Result<JsonValue> parse_json(std::string_view text) {
    if (text.size() > base::limits::kMaxRequestBytes) {
        return base::make_error(Reason::kJsonTooLarge, "{} bytes of JSON; at most {} are allowed",
                                text.size(), base::limits::kMaxRequestBytes);
    }
    boost::json::parse_options options;
    options.max_depth = kMaxDepth;
    boost::json::basic_parser<TreeBuilder> parser(options);
    error_code ec;
    const size_t used = parser.write_some(false, text.data(), text.size(), ec);
    TreeBuilder& tree = parser.handler();
    if (!tree.duplicate.empty()) {
        return base::make_error(Reason::kDuplicateMember, "'{}' is given twice in one object",
                                tree.duplicate);
    }
    if (ec && is_limit(ec)) {
        return base::make_error(Reason::kJsonLimit, "JSON: {} near byte {}", ec.message(), used);
    }
    if (ec)
        return base::make_error(base::Reason::kBadJson, "not JSON: {} near byte {}", ec.message(),
                                used);
    if (used < text.size()) {
        return base::make_error(base::Reason::kBadJson,
                                "not JSON: extra text after the document at byte {}", used);
    }
    return std::move(tree.root);
}

Result<double> to_number(const JsonValue& value, std::string_view path) {
    double number = 0;
    const char* end = value.text.data() + value.text.size();
    const auto [stop, problem] = std::from_chars(value.text.data(), end, number);
    if (problem == std::errc::result_out_of_range) {
        // overflow or underflow; only the latter has a value
        number = std::strtod(value.text.c_str(), nullptr);
    }
    if (stop != end || !std::isfinite(number)) {
        return base::make_error(Reason::kNumberOutOfRange, "{}: {} is not a finite number", path,
                                value.text.substr(0, 40));
    }
    return number;
}

ObjectReader::ObjectReader(const JsonValue& value, std::string path)
    : object_(&value), path_(std::move(path)) {
    if (value.kind != Kind::kObject) {
        error_ = base::make_error(base::Reason::kWrongType, "{}: must be an object",
                                  path_.empty() ? "the document" : path_);
    }
}

std::string ObjectReader::path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void ObjectReader::fail(Error error) {
    if (!error_) error_ = std::move(error);
}

const JsonValue* ObjectReader::find(std::string_view key) const {
    const auto& members = object_->members;
    const auto it = std::find_if(members.begin(), members.end(),
                                 [&](const auto& member) { return member.key == key; });
    return it == members.end() ? nullptr : &it->value;
}

bool ObjectReader::has(std::string_view key) const { return find(key) != nullptr; }

const JsonValue* ObjectReader::value(std::string_view key) {
    asked_.emplace_back(key);
    if (error_) return nullptr;
    const JsonValue* found = find(key);
    if (found == nullptr) {
        fail(base::make_error(Reason::kMissingMember, "{}: is required", path_of(key)));
    }
    return found;
}

const JsonValue* ObjectReader::typed(std::string_view key, Kind kind, std::string_view wanted) {
    const JsonValue* found = value(key);
    if (found == nullptr || found->kind == kind) return found;
    fail(base::make_error(base::Reason::kWrongType, "{}: must be {}", path_of(key), wanted));
    return nullptr;
}

std::string ObjectReader::string(std::string_view key) {
    const JsonValue* found = typed(key, Kind::kString, "a string");
    return found == nullptr ? std::string() : found->text;
}

double ObjectReader::number(std::string_view key) {
    const JsonValue* found = typed(key, Kind::kNumber, "a number");
    if (found == nullptr) return 0;
    const auto number = to_number(*found, path_of(key));
    if (number) return *number;
    fail(number.error());
    return 0;
}

bool ObjectReader::boolean(std::string_view key) {
    const JsonValue* found = typed(key, Kind::kBoolean, "true or false");
    return found != nullptr && found->boolean;
}

base::TimePoint ObjectReader::time(std::string_view key) {
    const JsonValue* found = typed(key, Kind::kString, "a time like \"2005-04-01T10:00:00Z\"");
    if (found == nullptr) return {};
    const auto time = base::parse_iso8601(found->text);
    if (time) return *time;
    fail(time.error().with_context(path_of(key)));
    return {};
}

uint32_t ObjectReader::count(std::string_view key, uint32_t fallback) {
    if (!has(key)) return fallback;
    const JsonValue* found = typed(key, Kind::kNumber, "a whole number from 0 on");
    if (found == nullptr) return fallback;
    uint32_t number = 0;
    const char* end = found->text.data() + found->text.size();
    const auto [stop, problem] = std::from_chars(found->text.data(), end, number);
    if (stop == end && problem == std::errc()) return number;
    fail(base::make_error(Reason::kNumberOutOfRange, "{}: {} is not a whole number from 0 to {}",
                          path_of(key), found->text.substr(0, 40), UINT32_MAX));
    return fallback;
}

std::vector<std::string> ObjectReader::strings(std::string_view key) {
    std::vector<std::string> strings;
    const JsonValue* found = typed(key, Kind::kArray, "a list of strings");
    if (found == nullptr) return strings;
    for (const auto& element : found->elements) {
        if (element.kind != Kind::kString) {
            fail(base::make_error(base::Reason::kWrongType, "{}[{}]: must be a string",
                                  path_of(key), strings.size()));
            return strings;
        }
        strings.push_back(element.text);
    }
    return strings;
}

Status ObjectReader::finish() {
    if (error_) return *error_;
    for (const auto& [key, value] : object_->members) {
        if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) {
            return base::make_error(Reason::kUnknownMember, "{}: is not known here; allowed are {}",
                                    path_of(key), fmt::join(asked_, ", "));
        }
    }
    return base::ok();
}

}  // namespace rampart::wire
