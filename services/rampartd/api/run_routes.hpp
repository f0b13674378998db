#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rampart/http/router.hpp"
#include "rampart/retraining/run_store.hpp"

namespace rampart::rampartd {

/// GET /v1/runs, GET /v1/monitor.
class RunRoutes {
  public:
    /// Training runs, empty where another node trains.
    using Runs = std::function<base::Result<std::vector<retraining::RunRecord>>()>;
    /// How the champions do, as a JSON document.
    using MonitorReport = std::function<base::Result<std::string>()>;

    RunRoutes(Runs runs, MonitorReport monitor_report)
        : runs_(std::move(runs)), monitor_report_(std::move(monitor_report)) {}
    void add_to(http::Router& router) const;

  private:
    base::Result<http::Response> handle_runs(const http::Request& request) const;
    base::Result<http::Response> handle_monitor() const;

    Runs runs_;
    MonitorReport monitor_report_;
};

}  // namespace rampart::rampartd
