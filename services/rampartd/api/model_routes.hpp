#pragma once

#include <functional>
#include <string_view>

#include "rampart/http/router.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::rampartd {

/// GET /v1/models, POST /v1/rollback. The router keeps a copy; what it works with has to outlive
/// the router, as for all routes.
class ModelRoutes {
  public:
    /// Puts the champion before in charge; does not wait for a training run.
    using Rollback = std::function<base::Status(std::string_view actor, std::string_view reason)>;

    ModelRoutes(const registry::ModelRegistry& registry, Rollback rollback)
        : registry_(registry), rollback_(std::move(rollback)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_models(const http::Request& request) const;
    base::Result<http::Response> handle_rollback(const http::Request& request) const;

    const registry::ModelRegistry& registry_;
    Rollback rollback_;
};

}  // namespace rampart::rampartd
