#include "services/rampartd/api/bodies.hpp"

#include <boost/json.hpp>
#include <charconv>
#include <cmath>

#include "rampart/base/reasons.hpp"
#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::rampartd {

using base::Result;
namespace json = boost::json;

http::Response json_response(const Json& value) {
    http::Response response;
    response.body = value.text();
    return response;
}

http::Response respond(Result<http::Response> result) {
    return result ? std::move(*result) : http::error_response(result.error());
}

Result<Members> text_members(std::string_view body, const std::vector<std::string>& names) {
    boost::system::error_code failure;
    const auto document = json::parse(body, failure);
    const auto* object = failure ? nullptr : document.if_object();
    if (object == nullptr) {
        return base::make_error(base::Reason::kBadJson, "the body is not a JSON object");
    }
    Members members;
    for (const auto& name : names) {
        const auto* value = object->if_contains(name);
        if (value == nullptr || !value->is_string()) {
            return base::make_error(protected_attributes::Reason::kMissingField,
                                    "$.{} is required and is a text", name);
        }
        members[name] = std::string(value->get_string());
    }
    for (const auto& entry : *object) {
        if (!members.contains(std::string(entry.key()))) {
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{} is not a known field", std::string(entry.key()));
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
    return base::make_error(base::Reason::kBadNumber, "{}: '{}' is not a decimal number", name,
                            text.substr(0, 32));
}

Result<bool> yes_or_no(std::string_view name, std::string_view text) {
    if (text == "yes") return true;
    if (text == "no") return false;
    return base::make_error(base::Reason::kBadFlag, "$.{} is \"yes\" or \"no\"", name);
}

base::Status check_reason(const Members& members) {
    if (!members.at("reason").empty()) return base::ok();
    return base::make_error(registry::Reason::kReasonMissing,
                            "$.reason is empty; say why for the audit log");
}

}  // namespace rampart::rampartd
