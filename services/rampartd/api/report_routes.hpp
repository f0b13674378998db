#pragma once

#include <functional>
#include <string>

#include "rampart/http/router.hpp"
#include "services/rampartd/store_report.hpp"

namespace rampart::rampartd {

/// GET /v1/report: decisions and what became of them, by group and month.
class ReportRoutes {
  public:
    using Report = std::function<base::Result<std::string>(const ReportRequest&)>;
    explicit ReportRoutes(Report report) : report_(std::move(report)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_report(const http::Request& request) const;

    Report report_;
};

}  // namespace rampart::rampartd
