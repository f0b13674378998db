#include "rampart/wire/json_value.hpp"

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <utility>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/wire/reasons.hpp"

namespace rampart::wire {
namespace {

using base::Result;
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

}  // namespace rampart::wire
