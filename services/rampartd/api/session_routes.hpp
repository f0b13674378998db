#pragma once

#include <functional>

#include "rampart/access/sessions.hpp"
#include "rampart/http/router.hpp"

namespace rampart::rampartd {

/// /v1/session: a browser exchanges a token for a cookie that scripts cannot read.
class SessionRoutes {
  public:
    struct Deps {
        access::Sessions& sessions;
        // Puts an operation of a principal into the audit log.
        std::function<base::Status(std::string_view actor, std::string_view operation)> record;
        bool tls = false;  // the browser speaks TLS, to this service or to a proxy
    };
    explicit SessionRoutes(Deps deps) : deps_(std::move(deps)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_opening(const http::Request& request) const;
    base::Result<http::Response> handle_question(const http::Request& request) const;
    base::Result<http::Response> handle_end(const http::Request& request) const;
    http::Header cookie(std::string_view id, base::Duration life) const;

    Deps deps_;
};

}  // namespace rampart::rampartd
