#pragma once

#include <functional>
#include <map>
#include <string>

#include "rampart/access/principals.hpp"
#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/http/router.hpp"

namespace rampart::rampartd {

/// Principals over HTTP, for callers with the scope `grant`:
///   GET    /v1/tokens                 all principals, without tokens
///   POST   /v1/tokens                 a new one; the answer has its token, which is kept nowhere
///   POST   /v1/tokens/{name}/rotate   a new token in place of the one before
///   DELETE /v1/tokens/{name}          it ends
class TokenRoutes {
  public:
    struct Deps {
        std::filesystem::path file;  // with the principals
        const base::Clock& clock;    // the wall clock
        /// Records who did what to which principal, in the audit log.
        std::function<base::Status(std::string_view actor, std::string_view operation,
                                   const std::map<std::string, std::string>& details)>
            record;
        /// Reads the file anew.
        std::function<base::Status()> refresh;
    };
    explicit TokenRoutes(Deps deps) : deps_(std::move(deps)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_list() const;
    base::Result<http::Response> handle_creation(const http::Request& request) const;
    base::Result<http::Response> handle_rotation(const http::Request& request) const;
    base::Result<http::Response> handle_revocation(const http::Request& request) const;

    Deps deps_;
};

}  // namespace rampart::rampartd
