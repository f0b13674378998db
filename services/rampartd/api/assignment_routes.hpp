#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rampart/http/router.hpp"
#include "rampart/registry/model_registry.hpp"
#include "services/rampartd/loop.hpp"

namespace rampart::rampartd {

/// GET and POST /v1/assignments, DELETE /v1/assignments/{id}: which policies decide beside the
/// champion.
class AssignmentRoutes {
  public:
    struct Deps {
        const registry::ModelRegistry& registry;
        /// Says whether the registry has the assignments of the group: that of the node that
        /// trains.
        std::function<base::Status()> check_trains;
        /// As Loop::start_assignment() and Loop::end_assignment().
        std::function<base::Result<Loop::Started>(domain::Assignment assignment,
                                                  std::string_view actor, std::string_view reason)>
            start;
        std::function<base::Result<registry::AssignmentPeriod>(
            const std::string& id, std::string_view actor, std::string_view reason)>
            end;
    };
    explicit AssignmentRoutes(Deps deps) : deps_(std::move(deps)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_list() const;
    base::Result<http::Response> handle_start(const http::Request& request) const;
    base::Result<http::Response> handle_end(const http::Request& request) const;

    Deps deps_;
};

}  // namespace rampart::rampartd
