#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "rampart/http/router.hpp"
#include "services/rampartd/store_report.hpp"

namespace rampart::rampartd {

/// GET /v1/report: decisions and what became of them, by group and month. One at a time: another
/// one gets "administrative_busy".
class ReportRoutes {
  public:
    using Report = std::function<base::Result<std::string>(const ReportRequest&)>;
    explicit ReportRoutes(Report report) : report_(std::move(report)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_report(const http::Request& request) const;

    Report report_;
    std::shared_ptr<std::atomic<bool>> busy_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace rampart::rampartd
