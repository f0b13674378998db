#pragma once

#include <functional>

#include "rampart/http/router.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::rampartd {

/// GET /v1/policies/at: who decided when.
class PolicyRoutes {
  public:
    /// Says whether the registry has the champions of the group: that of the node that trains has.
    using CheckTrains = std::function<base::Status()>;

    PolicyRoutes(const registry::ModelRegistry& registry, CheckTrains check_trains)
        : registry_(registry), check_trains_(std::move(check_trains)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_at(const http::Request& request) const;

    const registry::ModelRegistry& registry_;
    CheckTrains check_trains_;
};

}  // namespace rampart::rampartd
