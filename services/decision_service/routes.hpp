#pragma once

#include "rampart/http/router.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::decision_service {

/// POST /v1/decisions, GET /v1/decisions/{id}, POST /v1/outcomes, POST /v1/overrides (with the
/// token), GET /v1/policy, as in schemas/http/openapi.yaml. The router keeps a copy; the service
/// has to outlive it.
class DecisionRoutes {
  public:
    explicit DecisionRoutes(serving::DecisionService& service) : service_(service) {}
    void add_to(http::Router& router) const;

  private:
    void handle_decisions(std::span<const http::Grouped> requests) const;
    http::Response handle_batch(std::span<const domain::Application> applications) const;
    http::Response handle_decision(const http::Request& request) const;
    http::Response handle_outcomes(const http::Request& request) const;
    http::Response handle_overrides(const http::Request& request) const;
    http::Response handle_policy() const;

    serving::DecisionService& service_;
};

/// GET /healthz, /readyz and /metrics: open, and answered inline, since none waits for a commit.
class StatusRoutes {
  public:
    StatusRoutes(const runtime::Health& health, runtime::Metrics& metrics)
        : health_(health), metrics_(metrics) {}
    void add_to(http::Router& router) const;

  private:
    http::Response handle_health(runtime::Probe probe) const;
    http::Response handle_metrics(const http::Traffic& traffic) const;

    const runtime::Health& health_;
    runtime::Metrics& metrics_;
};

}  // namespace rampart::decision_service
