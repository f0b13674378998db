#pragma once

#include <span>

#include "rampart/http/router.hpp"
#include "services/rampartd/console_bundle.hpp"

namespace rampart::rampartd {

/// /console: the pages for people, from files that are in this program. They hold no data: what
/// they show they ask for with the session of who looks.
class ConsoleRoutes {
  public:
    /// `files` has to outlive the router; "index.html" is the page.
    explicit ConsoleRoutes(std::span<const BundledFile> files) : files_(files) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_file(std::string_view name,
                                             const http::Request& request) const;

    std::span<const BundledFile> files_;
};

}  // namespace rampart::rampartd
