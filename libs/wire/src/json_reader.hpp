#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/wire/json_value.hpp"

/// A strict reader of JSON objects, for the codecs of this library only.
namespace rampart::wire {

/// Reads the members of one object. The first error is kept: later getters return defaults, and a
/// codec checks finish() at the end only. Members that were not read are an error. Errors are
/// invalid_argument or out_of_range and start with the JSON path.
class ObjectReader {
  public:
    /// `path`: path of this object, "" for the document. Any other type than an object is an error.
    ObjectReader(const JsonValue& value, std::string path);

    std::string string(std::string_view key);
    double number(std::string_view key);
    bool boolean(std::string_view key);
    base::TimePoint time(std::string_view key);
    /// Returns a whole number in [0, 2^32); `fallback` if absent.
    uint32_t count(std::string_view key, uint32_t fallback);
    std::vector<std::string> strings(std::string_view key);
    /// Returns any value; nullptr: absent (an error if required) or after an error.
    const JsonValue* value(std::string_view key);
    bool has(std::string_view key) const;

    std::string path_of(std::string_view key) const;
    void fail(base::Error error);
    /// Returns the first error, or an unknown member.
    base::Status finish();

  private:
    const JsonValue* typed(std::string_view key, JsonValue::Kind kind, std::string_view wanted);
    const JsonValue* find(std::string_view key) const;

    const JsonValue* object_ = nullptr;
    std::string path_;
    std::vector<std::string> asked_;
    std::optional<base::Error> error_;
};

/// Returns the finite number that the text of a JSON number represents.
base::Result<double> to_number(const JsonValue& value, std::string_view path);

}  // namespace rampart::wire
