#include "json_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "rampart/base/reasons.hpp"
#include "rampart/wire/reasons.hpp"

namespace rampart::wire {

using base::Error;
using base::Result;
using base::Status;
using Kind = JsonValue::Kind;

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
