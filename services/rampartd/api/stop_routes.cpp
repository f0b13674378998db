#include "services/rampartd/api/stop_routes.hpp"

#include <algorithm>
#include <set>

#include "rampart/serving/stops.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using registry::Stop;

namespace {

constexpr size_t kMostListed = 1000;

Json to_json(const Stop& stop) {
    const auto& [from, to, kind, who] = stop.period;
    return Json::object({{"id", stop.id},
                         {"name", serving::name_of(kind)},
                         {"from", base::to_iso8601(from)},
                         {"by", who},
                         {"reason", stop.reason},
                         {"to", to ? Json(base::to_iso8601(*to)) : Json(nullptr)},
                         {"ended_by", to ? Json(stop.ended_by) : Json(nullptr)},
                         {"end_reason", to ? Json(stop.end_reason) : Json(nullptr)}});
}

Result<domain::StopKind> kind_of(const http::Request& request) {
    const auto& name = request.path_values.at("name");
    if (const auto kind = serving::stop_named(name)) return *kind;
    return base::make_error(
        Reason::kUnknownStop,
        "there is no stop '{}': \"exploration\", \"rules-only\" and \"refer-all\" "
        "are there",
        name.substr(0, 100));
}

}  // namespace

Json stops_in_force(const registry::ModelRegistry& registry) {
    std::set<std::string_view> names;
    const auto stops = registry.stops();
    for (const auto& stop : stops) {
        if (!stop.period.to) names.insert(serving::name_of(stop.period.kind));
    }
    std::vector<Json> out;
    for (const auto name : names) out.push_back(Json(name));
    return Json::array(out);
}

Result<http::Response> StopRoutes::handle_list() const {
    std::vector<Json> stops;
    const auto all = registry_.stops();
    for (auto it = all.rbegin(); it != all.rend() && stops.size() < kMostListed; ++it)
        stops.push_back(to_json(*it));
    return json_response(
        Json::object({{"in_force", stops_in_force(registry_)}, {"stops", Json::array(stops)}}));
}

Result<http::Response> StopRoutes::handle_press(const http::Request& request) const {
    RAMPART_TRY(const auto kind, kind_of(request));
    RAMPART_TRY(const auto members, text_members(request.body, {"reason"}));
    RAMPART_RETURN_IF_ERROR(check_reason(members));
    RAMPART_TRY(const auto stop, buttons_.press(kind, request.principal, members.at("reason")));
    return json_response(Json::object({{"stop", to_json(stop)}}));
}

Result<http::Response> StopRoutes::handle_release(const http::Request& request) const {
    RAMPART_TRY(const auto kind, kind_of(request));
    RAMPART_TRY(const auto reason, reason_in_query(request, "a stop"));
    RAMPART_TRY(const auto ended, buttons_.release(kind, request.principal, reason));
    return json_response(Json::object({{"stop", ended ? to_json(*ended) : Json(nullptr)}}));
}

void StopRoutes::add_to(http::Router& router) const {
    router.add("GET", "/v1/stops", Scope::kRead,
               [self = *this](const auto&) { return respond(self.handle_list()); });
    // neither may be refused while something administrative is under way
    router.add("POST", "/v1/stops/{name}", Scope::kOperate,
               [self = *this](const auto& r) { return respond(self.handle_press(r)); });
    router.add("DELETE", "/v1/stops/{name}", Scope::kOperate,
               [self = *this](const auto& r) { return respond(self.handle_release(r)); });
}

}  // namespace rampart::rampartd
