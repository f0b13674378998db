#include "services/rampartd/api/bodies.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "rampart/base/limits.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/wire/json_value.hpp"

namespace rampart::rampartd {

using base::Result;
using wire::JsonValue;

namespace {

/// Returns the text of the value; nullopt: it is of another kind.
std::optional<std::string> text_if(const JsonValue& value, MemberSpec::Kind kind) {
    const bool text = value.kind == JsonValue::Kind::kString;
    const bool number = value.kind == JsonValue::Kind::kNumber;
    switch (kind) {
        case MemberSpec::Kind::kText:
            if (text) return value.text;
            break;
        case MemberSpec::Kind::kNumber:
            if (number) return value.text;
            break;
        case MemberSpec::Kind::kPartition:
            if (number || (text && value.text == "all")) return value.text;
            break;
        case MemberSpec::Kind::kFlag:
            if (value.kind == JsonValue::Kind::kBoolean) return value.boolean ? "true" : "false";
            break;
    }
    return std::nullopt;
}

base::Error wrong_type(const MemberSpec& spec) {
    switch (spec.kind) {
        case MemberSpec::Kind::kNumber:
            return base::make_error(base::Reason::kWrongType, "$.{}: must be a number", spec.name);
        case MemberSpec::Kind::kPartition:
            return base::make_error(base::Reason::kWrongType, "$.{}: must be a number, or \"all\"",
                                    spec.name);
        case MemberSpec::Kind::kFlag:
            return base::make_error(base::Reason::kWrongType, "$.{}: must be true or false",
                                    spec.name);
        case MemberSpec::Kind::kText:
            break;
    }
    return base::make_error(protected_attributes::Reason::kMissingField, "$.{}: must be a text",
                            spec.name);
}

}  // namespace

http::Response json_response(const Json& value) {
    http::Response response;
    response.body = value.text();
    return response;
}

http::Response respond(Result<http::Response> result) {
    return result ? std::move(*result) : http::error_response(result.error());
}

Result<Members> text_members(std::string_view body, const std::vector<MemberSpec>& specs) {
    RAMPART_TRY(const auto document, wire::parse_json(body));
    if (document.kind != JsonValue::Kind::kObject) {
        return base::make_error(base::Reason::kBadJson, "the body is not a JSON object");
    }
    Members members;
    for (const auto& [key, value] : document.members) {
        const auto spec = std::find_if(specs.begin(), specs.end(),
                                       [&](const MemberSpec& known) { return known.name == key; });
        if (spec == specs.end()) {
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known field", key);
        }
        auto text = text_if(value, spec->kind);
        if (!text) return wrong_type(*spec);
        members.emplace(key, *std::move(text));
    }
    for (const auto& spec : specs) {
        if (spec.required && !members.contains(spec.name)) {
            return base::make_error(protected_attributes::Reason::kMissingField,
                                    "$.{}: is required", spec.name);
        }
    }
    return members;
}

Result<int64_t> number_of(std::string_view name, std::string_view text, int64_t lo, int64_t hi) {
    int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    if (failure == std::errc() && last == end && value >= lo && value <= hi) return value;
    return base::make_error(base::Reason::kBadNumber,
                            "$.{}: '{}' is not a whole number from {} to {}", name,
                            text.substr(0, 32), lo, hi);
}

Result<double> real_of(std::string_view name, std::string_view text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    if (failure == std::errc() && last == end && std::isfinite(value)) return value;
    return base::make_error(base::Reason::kBadNumber, "$.{}: '{}' is not a decimal number", name,
                            text.substr(0, 32));
}

Result<bool> flag_of(std::string_view name, std::string_view text) {
    if (text == "true") return true;
    if (text == "false") return false;
    return base::make_error(base::Reason::kBadFlag, "$.{}: must be true or false", name);
}

base::Status check_reason(const Members& members) {
    if (!members.at("reason").empty()) return base::ok();
    return base::make_error(registry::Reason::kReasonMissing,
                            "$.reason: is empty; say why for the audit log");
}

Result<std::string> reason_in_query(const http::Request& request, std::string_view what) {
    std::string reason;
    for (const auto& [name, value] : request.query) {
        if (name != "reason") {
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known parameter of the query", name);
        }
        reason = value;
    }
    if (!base::is_utf8(reason) || reason.size() > base::limits::kMaxTextBytes)
        return base::make_error(registry::Reason::kAuditEntry,
                                "$.reason: is not UTF-8 of at most {} bytes",
                                base::limits::kMaxTextBytes);
    if (!reason.empty()) return reason;
    return base::make_error(registry::Reason::kReasonMissing,
                            "$.reason: why {} ends is for the audit log: add ?reason=TEXT to the "
                            "path",
                            what);
}

}  // namespace rampart::rampartd
