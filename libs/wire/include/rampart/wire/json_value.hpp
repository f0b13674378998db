#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"

namespace rampart::wire {

/// A parsed JSON value. Numbers keep their text, so that they are rounded only once, correctly.
struct JsonValue {
    enum class Kind { kNull, kBoolean, kNumber, kString, kArray, kObject };
    Kind kind = Kind::kNull;
    bool boolean = false;
    std::string text;  // text of a number or a string
    std::vector<JsonValue> elements;
    struct Member;
    std::vector<Member> members;  // in the given order, keys are unique
};
/// A struct, not a pair: clang requires a pair's parts to be complete where the vector is declared.
struct JsonValue::Member {
    std::string key;
    JsonValue value;
};

/// Parses one JSON document of at most limits::kMaxRequestBytes, 16 levels deep. Fails with
/// invalid_argument "bad_json" (syntax or UTF-8, with the position) or "duplicate_member";
/// out_of_range beyond a limit.
base::Result<JsonValue> parse_json(std::string_view text);

}  // namespace rampart::wire
