#include <fmt/format.h>

#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"
#include "services/decision_service/decision_service.hpp"
#include "services/decision_service/reasons.hpp"

namespace rampart::decision_service {

using http::Access;
using http::error_response;
using http::json_quoted;
using http::Lane;
using http::Request;
using http::Response;

namespace {

Response json(std::string body) { return {200, std::move(body), "application/json", {}}; }

/// Misdirected (RFC 9110, 15.5.20): another node answers for that partition.
Response error_of(const base::Error& error) {
    const bool elsewhere = error.is(Reason::kNotOwner) || error.is(Reason::kFenced);
    return elsewhere ? error_response(error, 421) : error_response(error);
}

/// The decision, and what the client should know of it.
std::string answer_of(const DecisionService& service, const domain::Decision& decision) {
    return wire::to_json(decision, service.unseen_categories(decision.application));
}

Response post_decisions(DecisionService& service, const Request& request) {
    const auto parsed = wire::applications_from_json(request.body);
    if (!parsed) return error_response(parsed.error());
    const auto decisions = service.decide(parsed->applications);
    if (!decisions) return error_of(decisions.error());
    if (!parsed->batch) return json(answer_of(service, decisions->front()));
    std::string answers;
    for (const auto& decision : *decisions) {
        if (!answers.empty()) answers += ',';
        answers += answer_of(service, decision);
    }
    return json(fmt::format(R"({{"decisions":[{}]}})", answers));
}

Response get_decision(const DecisionService& service, const Request& request) {
    const auto decision = service.find(domain::DecisionId(request.path_values.at("id")));
    return decision ? json(answer_of(service, *decision)) : error_of(decision.error());
}

Response post_outcomes(DecisionService& service, const Request& request) {
    const auto parsed = wire::outcomes_from_json(request.body);
    if (!parsed) return error_response(parsed.error());
    const auto contradicting = service.submit_outcomes(parsed->outcomes);
    if (!contradicting) return error_of(contradicting.error());
    std::string named;
    for (const size_t i : *contradicting) {
        const auto& outcome = parsed->outcomes[i];
        if (!named.empty()) named += ',';
        named += fmt::format(R"({{"decision_id":{},"measure":{},"revision":{}}})",
                             json_quoted(outcome.decision.value()), json_quoted(outcome.measure),
                             outcome.revision);
    }
    if (!named.empty()) named = fmt::format(R"(,"contradicting":[{}])", named);
    return json(fmt::format(R"({{"accepted":{}{}}})", parsed->outcomes.size(), named));
}

Response post_overrides(DecisionService& service, const Request& request) {
    const auto parsed = wire::overrides_from_json(request.body);
    if (!parsed) return error_response(parsed.error());
    const auto status = service.submit_overrides(parsed->overrides);
    if (!status) return error_of(status.error());
    return json(fmt::format(R"({{"accepted":{}}})", parsed->overrides.size()));
}

Response get_policy(const DecisionService& service) {
    const auto policy = service.policy();
    if (policy == nullptr) {
        return error_response(
            base::make_error(Reason::kNoPolicyToShow, "no policy is in force yet"));
    }
    std::string features;
    for (const auto& feature : policy->policy().schema().features()) {
        if (!features.empty()) features += ',';
        features += json_quoted(feature.name);
    }
    return json(fmt::format(
        R"({{"policy_id":{},"certified":{},"learned":{},"group_aware":{},"features":[{}]}})",
        json_quoted(policy->id().value()), policy->certified(),
        policy->policy().last_learned() != nullptr, policy->policy().group_aware(), features));
}

Response health(const runtime::Health& health, runtime::Probe probe) {
    const auto report = health.report(probe);
    std::string checks;
    for (const auto& [name, status, required] : report.checks) {
        if (!checks.empty()) checks += ',';
        checks += fmt::format(R"({{"name":{},"ok":{},"required":{},"message":{}}})",
                              json_quoted(name), status.has_value(), required,
                              json_quoted(status ? std::string() : status.error().message));
    }
    auto response = json(fmt::format(R"({{"ok":{},"degraded":{},"checks":[{}]}})", report.ok(),
                                     report.degraded(), checks));
    if (!report.ok()) {
        response.status = 503;
        response.headers.push_back({"Retry-After", "1"});
    }
    return response;
}

/// The checks of /readyz among them, as they are now.
Response metrics(const runtime::Health& health, runtime::Metrics& metrics) {
    for (const auto& check : health.report(runtime::Probe::kReady).checks) {
        metrics
            .gauge("rampart_check_ok", "Whether a check of /readyz passes.",
                   {{"check", check.name}})
            .set(check.status ? 1 : 0);
    }
    return {200, metrics.prometheus_text(), "text/plain; version=0.0.4", {}};
}

}  // namespace

void DecisionService::add_routes(http::Router& router) {
    router.add("POST", "/v1/decisions", Access::kToken,
               [this](const Request& request) { return post_decisions(*this, request); });
    // what applicants told about themselves is in it
    router.add("GET", "/v1/decisions/{id}", Access::kToken,
               [this](const Request& request) { return get_decision(*this, request); });
    router.add("POST", "/v1/outcomes", Access::kToken,
               [this](const Request& request) { return post_outcomes(*this, request); });
    // each override has its own entry in the audit log, so a thousand of them take their time
    router.add(
        "POST", "/v1/overrides", Access::kToken,
        [this](const Request& request) { return post_overrides(*this, request); }, Lane::kBulk);
    router.add(
        "GET", "/v1/policy", Access::kOpen, [this](const Request&) { return get_policy(*this); },
        Lane::kInline);
    router.add(
        "GET", "/healthz", Access::kOpen,
        [this](const Request&) { return health(deps_.health, runtime::Probe::kLive); },
        Lane::kInline);
    router.add(
        "GET", "/readyz", Access::kOpen,
        [this](const Request&) { return health(deps_.health, runtime::Probe::kReady); },
        Lane::kInline);
    router.add(
        "GET", "/metrics", Access::kOpen,
        [this](const Request&) { return metrics(deps_.health, deps_.metrics); }, Lane::kInline);
}

}  // namespace rampart::decision_service
