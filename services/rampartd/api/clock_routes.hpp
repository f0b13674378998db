#pragma once

#include <functional>

#include "rampart/http/router.hpp"
#include "rampart/registry/model_registry.hpp"
#include "services/rampartd/node_clock.hpp"

namespace rampart::rampartd {

/// POST /v1/clock, by event time; POST /v1/clock/accept, by the wall clock.
class ClockRoutes {
  public:
    /// Does all that is due until then.
    using Advance = std::function<base::Status(base::TimePoint now)>;
    /// How far event time has come; nullopt: nothing has been read yet.
    using EventTime = std::function<std::optional<base::TimePoint>()>;

    ClockRoutes(NodeClock& clock, registry::ModelRegistry& registry, EventTime event_time,
                Advance advance)
        : clock_(clock),
          registry_(registry),
          event_time_(std::move(event_time)),
          advance_(std::move(advance)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_clock(const http::Request& request) const;
    base::Result<http::Response> handle_acceptance(const http::Request& request) const;

    NodeClock& clock_;
    registry::ModelRegistry& registry_;
    EventTime event_time_;
    Advance advance_;
};

}  // namespace rampart::rampartd
