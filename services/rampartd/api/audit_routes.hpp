#pragma once

#include "rampart/http/router.hpp"
#include "rampart/registry/model_registry.hpp"

namespace rampart::rampartd {

/// GET /v1/audit: what was done at this node, by whom.
class AuditRoutes {
  public:
    explicit AuditRoutes(const registry::ModelRegistry& registry) : registry_(registry) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_audit(const http::Request& request) const;

    const registry::ModelRegistry& registry_;
};

}  // namespace rampart::rampartd
