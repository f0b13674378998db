#pragma once

#include <string>

#include "rampart/http/router.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {

/// Returns what a node in this process answers to a caller with all scopes.
inline http::Response ask(Node& node, const std::string& method, const std::string& path,
                          const std::string& body = "") {
    http::Router router(access::one_token("t", {"anna", access::Scopes::all()}));
    node.add_routes(router);
    http::Request request;
    request.method = method;
    request.path = path;
    request.headers = {{"Authorization", "Bearer t"}};
    request.body = body;
    return router.handle(std::move(request));
}

}  // namespace rampart::rampartd
