#include "services/rampartd/api/run_routes.hpp"

#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using http::Lane;

Result<http::Response> RunRoutes::handle_runs() const {
    RAMPART_TRY(const auto runs, runs_());
    std::vector<Json> out;
    for (const auto& run : runs) out.push_back(Json::parsed(retraining::encode(run)));
    return json_response(Json::object({{"runs", Json::array(out)}}));
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
               [self = *this](const auto&) { return respond(self.handle_runs()); });
}

}  // namespace rampart::rampartd
