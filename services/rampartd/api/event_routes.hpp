#pragma once

#include "rampart/http/router.hpp"
#include "services/rampartd/event_streams.hpp"

namespace rampart::rampartd {

/// GET /v1/events: server-sent events.
class EventRoutes {
  public:
    explicit EventRoutes(EventStreams& events) : events_(events) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_events(const http::Request& request) const;

    EventStreams& events_;
};

}  // namespace rampart::rampartd
