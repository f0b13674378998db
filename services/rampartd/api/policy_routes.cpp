#include "services/rampartd/api/policy_routes.hpp"

#include "rampart/protected_attributes/reasons.hpp"
#include "rampart/registry/live.hpp"
#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using base::Result;

namespace {

/// Returns the parameter `time` of the query.
Result<base::TimePoint> time_of(const http::Request& request) {
    const std::string* text = nullptr;
    for (const auto& [name, value] : request.query) {
        if (name != "time") {
            return base::make_error(protected_attributes::Reason::kUnknownField,
                                    "$.{}: is not a known parameter of the query", name);
        }
        text = &value;
    }
    if (text == nullptr) {
        return base::make_error(protected_attributes::Reason::kMissingField,
                                "$.time: is required: add ?time=2026-03-01T12:00:00Z to the path");
    }
    auto time = base::parse_iso8601(*text);
    if (!time) return time.error().with_context("$.time");
    return time;
}

}  // namespace

Result<http::Response> PolicyRoutes::handle_at(const http::Request& request) const {
    RAMPART_TRY(const auto time, time_of(request));
    RAMPART_RETURN_IF_ERROR(check_trains_());
    RAMPART_TRY(const auto live, registry::live_at(registry_, time));
    return json_response(Json::parsed(registry::to_json(live)));
}

void PolicyRoutes::add_to(http::Router& router) const {
    router.add(
        "GET", "/v1/policies/at", access::Scope::kRead,
        [self = *this](const auto& r) { return respond(self.handle_at(r)); }, http::Lane::kBulk);
}

}  // namespace rampart::rampartd
