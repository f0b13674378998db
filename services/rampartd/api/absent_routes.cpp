#include "services/rampartd/api/absent_routes.hpp"

namespace rampart::rampartd {

void add_refusals(const http::Router& absent, const Roles& roles, Role role, http::Router& router) {
    const auto refuse = [status = check_role(roles, role)](const http::Request&) {
        return http::error_response(status.error());
    };
    const auto routes = absent.routes();
    for (const auto& route : routes)
        router.add(route.method, route.pattern, route.access, refuse, http::Lane::kInline);
}

}  // namespace rampart::rampartd
