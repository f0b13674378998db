#include "services/rampartd/api/event_routes.hpp"

#include "services/rampartd/api/bodies.hpp"

namespace rampart::rampartd {

base::Result<http::Response> EventRoutes::handle_events(const http::Request& request) const {
    RAMPART_TRY(const auto kinds, read_event_kinds(request.query, request.scopes));
    std::optional<uint64_t> last;
    if (const auto given = request.header("Last-Event-ID"); !given.empty()) {
        RAMPART_TRY(last, read_last_event_id(given));
    }
    http::Response response;
    RAMPART_TRY(response.stream, events_.open(kinds, last));
    response.content_type = "text/event-stream";
    response.headers = {{"X-Accel-Buffering", "no"}};  // proxies pass events on as they come
    return response;
}

void EventRoutes::add_to(http::Router& router) const {
    router.add("GET", "/v1/events", access::Scope::kRead,
               [self = *this](const auto& r) { return respond(self.handle_events(r)); });
}

}  // namespace rampart::rampartd
