#include "services/rampartd/api/run_routes.hpp"

#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/api/list_part.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using http::Lane;

Result<http::Response> RunRoutes::handle_runs(const http::Request& request) const {
    RAMPART_TRY(const auto runs, runs_());
    RAMPART_TRY(const auto part, read_list_part(request.query, runs.size()));
    std::vector<Json> out;
    for (size_t i = part.begin; i < part.end; ++i)
        out.push_back(Json::parsed(retraining::encode(runs[i])));
    return json_response(
        Json::object({{"runs", Json::array(out)}, {"next_cursor", part.next_cursor()}}));
}

Result<http::Response> RunRoutes::handle_monitor() const {
    http::Response response;
    RAMPART_TRY(response.body, monitor_report_());
    return response;
}

void RunRoutes::add_to(http::Router& router) const {
    // may wait for a training run
    router.add(
        "GET", "/v1/monitor", Scope::kRead,
        [self = *this](const auto&) { return respond(self.handle_monitor()); },
        Lane::kAdministrative);
    router.add("GET", "/v1/runs", Scope::kRead,
               [self = *this](const auto& r) { return respond(self.handle_runs(r)); });
}

}  // namespace rampart::rampartd
