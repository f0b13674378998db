#pragma once

#include "rampart/http/router.hpp"
#include "rampart/registry/model_registry.hpp"
#include "services/rampartd/api/json.hpp"
#include "services/rampartd/stop_buttons.hpp"

namespace rampart::rampartd {

/// GET /v1/stops, POST and DELETE /v1/stops/{name}. They wait for no job and no run.
class StopRoutes {
  public:
    StopRoutes(StopButtons& buttons, const registry::ModelRegistry& registry)
        : buttons_(buttons), registry_(registry) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_list() const;
    base::Result<http::Response> handle_press(const http::Request& request) const;
    base::Result<http::Response> handle_release(const http::Request& request) const;

    StopButtons& buttons_;
    const registry::ModelRegistry& registry_;
};

/// Returns the names of the buttons that are pressed, each once.
Json stops_in_force(const registry::ModelRegistry& registry);

}  // namespace rampart::rampartd
