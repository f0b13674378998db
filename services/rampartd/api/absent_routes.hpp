#pragma once

#include "rampart/http/router.hpp"
#include "services/rampartd/roles.hpp"

namespace rampart::rampartd {

/// Adds to `router`, for each route of `absent`, one of the same name and scope that answers with
/// check_role()'s error.
void add_refusals(const http::Router& absent, const Roles& roles, Role role, http::Router& router);

/// Adds the routes of a class of this folder if the node has the role; otherwise their refusals.
template <class Routes>
void add_for_role(const Routes& routes, const Roles& roles, Role role, http::Router& router) {
    if (roles.has(role)) return routes.add_to(router);
    http::Router absent;
    routes.add_to(absent);
    add_refusals(absent, roles, role, router);
}

}  // namespace rampart::rampartd
