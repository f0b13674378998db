#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "rampart/http/router.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/serving/decision_service.hpp"

namespace rampart::decision_service {

/// Header of a misdirected answer: the address of the node to ask, as the document's member owner.
inline constexpr const char* kOwnerHeader = "X-Rampart-Owner";

/// Returns the answer to a request that failed. Misdirected (RFC 9110, 15.5.20) where another node
/// answers for the partition, with its address where it is known: `owner` is not empty.
http::Response error_answer(const base::Error& error, const std::string& owner = {});

/// Returns the answer to a request about these decisions that failed: error_answer() with the
/// address of the node that decides about them.
http::Response failed(const serving::DecisionService& service, const base::Error& error,
                      std::span<const domain::DecisionId> decisions);

/// Takes in overrides, as DecisionService::submit_overrides() does.
using ReportOverrides = std::function<base::Status(std::span<const domain::Override>)>;

/// Takes in the overrides of a body of POST /v1/overrides, and returns what is answered.
base::Result<std::string> take_overrides(std::string_view body, const ReportOverrides& report);

/// POST /v1/decisions, GET /v1/decisions/{id}, POST /v1/outcomes, POST /v1/overrides (with the
/// token), GET /v1/policy, as in schemas/http/openapi.yaml. The router keeps a copy; the service
/// has to outlive it.
class DecisionRoutes {
  public:
    /// Answers what has failed.
    using Failed = std::function<http::Response(const base::Error& error)>;
    /// Answers a request with more than kMostOverridesAtOnce overrides, each of which has an entry
    /// of its own in the audit log: `overrides` says how many they are.
    using Defer = std::function<http::Response(const http::Request& request, size_t overrides,
                                               const Failed& failed)>;
    static constexpr size_t kMostOverridesAtOnce = 100;

    /// Without `defer` all are taken in at once. `explains`: GET /v1/decisions/{id}/explanation is
    /// served, too, and declines are answered with its address. Without `report` the service
    /// itself takes overrides in.
    explicit DecisionRoutes(serving::DecisionService& service, Defer defer = {},
                            bool explains = false, ReportOverrides report = {})
        : service_(service),
          defer_(std::move(defer)),
          explains_(explains),
          report_(std::move(report)) {}
    void add_to(http::Router& router) const;

  private:
    void handle_decisions(std::span<const http::Grouped> requests) const;
    http::Response handle_batch(std::span<const domain::Application> applications,
                                const std::string& request_id) const;
    http::Response handle_decision(const http::Request& request) const;
    http::Response handle_outcomes(const http::Request& request) const;
    http::Response handle_overrides(const http::Request& request) const;
    http::Response handle_policy() const;
    std::string answer_of(const domain::Decision& decision) const;
    http::Response failed(const base::Error& error,
                          std::span<const domain::DecisionId> decisions) const;

    serving::DecisionService& service_;
    Defer defer_;
    bool explains_;
    ReportOverrides report_;
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
