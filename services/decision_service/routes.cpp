#include "services/decision_service/routes.hpp"

#include <fmt/format.h>

#include "rampart/decision_log/reasons.hpp"
#include "rampart/http/request_id.hpp"
#include "rampart/runtime/metric_list.hpp"
#include "rampart/wire/application_json.hpp"
#include "rampart/wire/decision_json.hpp"
#include "rampart/wire/outcome_json.hpp"
#include "rampart/wire/override_json.hpp"
#include "services/decision_service/process_metrics.hpp"
#include "services/decision_service/reasons.hpp"

namespace rampart::decision_service {

using serving::DecisionService;

using access::Scope;
using http::error_response;
using http::json_quoted;
using http::Lane;
using http::Request;
using http::Response;

namespace {

Response json(std::string body) { return {200, std::move(body), "application/json", {}}; }

/// Returns the id that the caller gave the request; one that this process made up would make what
/// is decided depend on it. Empty: none was given.
std::string given_id(const Request& request) {
    return http::given_request_id(request.headers).value_or("");
}

bool is_elsewhere(const base::Error& error) {
    return error.is(decision_log::Reason::kNotOwner) || error.is(decision_log::Reason::kFenced);
}

std::vector<domain::DecisionId> ids_of(std::span<const domain::Application> applications) {
    std::vector<domain::DecisionId> ids;
    for (const auto& one : applications) ids.push_back(domain::decision_id_of(one.id));
    return ids;
}

/// Returns the decisions that reports are about: outcomes or overrides.
template <typename Reports>
std::vector<domain::DecisionId> ids_of_reports(const Reports& reports) {
    std::vector<domain::DecisionId> ids;
    for (const auto& one : reports) ids.push_back(one.decision);
    return ids;
}

}  // namespace

Response error_answer(const base::Error& error, const std::string& owner) {
    if (!is_elsewhere(error)) return error_response(error);
    if (owner.empty()) return error_response(error, 421);
    const http::ProblemMember member{"owner", owner};
    auto response = error_response(error, 421, {&member, 1});
    response.headers.push_back({kOwnerHeader, owner});
    return response;
}

Response failed(const DecisionService& service, const base::Error& error,
                std::span<const domain::DecisionId> decisions) {
    return error_answer(error, is_elsewhere(error) ? service.owner_address(decisions) : "");
}

base::Result<std::string> take_overrides(std::string_view body, const ReportOverrides& report) {
    RAMPART_TRY(const auto parsed, wire::overrides_from_json(body));
    RAMPART_RETURN_IF_ERROR(report(parsed.overrides));
    return fmt::format(R"({{"accepted":{}}})", parsed.overrides.size());
}

/// Returns the decision, and what the client should know of it.
std::string DecisionRoutes::answer_of(const domain::Decision& decision) const {
    auto answer = wire::to_json(decision, service_.unseen_categories(decision.application));
    if (!explains_ || decision.action != domain::Action::kDecline) return answer;
    answer.pop_back();
    return answer +
           fmt::format(R"(,"explanation":"/v1/decisions/{}/explanation"}})", decision.id.value());
}

/// Single applications are decided together, batches each alone after them: a batch is decided
/// whole or not at all.
void DecisionRoutes::handle_decisions(std::span<const http::Grouped> requests) const {
    std::vector<domain::Application> singles;
    std::vector<std::string> request_ids;  // one for each of singles
    std::vector<const http::Grouped*> callers;
    std::vector<std::pair<const http::Grouped*, std::vector<domain::Application>>> batches;
    for (const auto& request : requests) {
        auto parsed = wire::applications_from_json(request.request.body);
        if (!parsed) {
            request.answer(error_response(parsed.error()));
        } else if (parsed->batch) {
            batches.emplace_back(&request, std::move(parsed->applications));
        } else {
            singles.push_back(std::move(parsed->applications.front()));
            request_ids.push_back(given_id(request.request));
            callers.push_back(&request);
        }
    }
    if (!singles.empty()) {
        const auto results = service_.decide_each(singles, request_ids);
        for (size_t i = 0; i < callers.size(); ++i) {
            const auto* error = !results         ? &results.error()
                                : !(*results)[i] ? &(*results)[i].error()
                                                 : nullptr;
            callers[i]->answer(error != nullptr ? failed(*error, ids_of({&singles[i], 1}))
                                                : json(answer_of(*(*results)[i])));
        }
    }
    for (const auto& [caller, applications] : batches)
        caller->answer(handle_batch(applications, given_id(caller->request)));
}

Response DecisionRoutes::failed(const base::Error& error,
                                std::span<const domain::DecisionId> decisions) const {
    return decision_service::failed(service_, error, decisions);
}

Response DecisionRoutes::handle_batch(std::span<const domain::Application> applications,
                                      const std::string& request_id) const {
    const auto decisions = service_.decide(applications, request_id);
    if (!decisions) return failed(decisions.error(), ids_of(applications));
    std::string answers;
    for (const auto& decision : *decisions) {
        if (!answers.empty()) answers += ',';
        answers += answer_of(decision);
    }
    return json(fmt::format(R"({{"decisions":[{}]}})", answers));
}

Response DecisionRoutes::handle_decision(const Request& request) const {
    const domain::DecisionId id(request.path_values.at("id"));
    const auto decision = service_.find(id);
    return decision ? json(answer_of(*decision)) : failed(decision.error(), {&id, 1});
}

Response DecisionRoutes::handle_outcomes(const Request& request) const {
    const auto parsed = wire::outcomes_from_json(request.body);
    if (!parsed) return error_response(parsed.error());
    const auto status = service_.submit_outcomes(parsed->outcomes);
    if (!status) return failed(status.error(), ids_of_reports(parsed->outcomes));
    return json(fmt::format(R"({{"accepted":{}}})", parsed->outcomes.size()));
}

Response DecisionRoutes::handle_overrides(const Request& request) const {
    auto parsed = wire::overrides_from_json(request.body);
    if (!parsed) return error_response(parsed.error());
    // the caller is known, whom it names is its word
    for (auto& taken : parsed->overrides)
        taken.actor = fmt::format("{}:{}", request.principal, taken.actor);
    auto named = request;
    named.body = wire::to_json(parsed->overrides);
    const size_t count = parsed->overrides.size();
    const auto refuse = [&](const base::Error& error) {
        return failed(error, ids_of_reports(parsed->overrides));
    };
    if (defer_ && count > kMostOverridesAtOnce) return defer_(named, count, refuse);
    auto taken = take_overrides(named.body, [this](auto overrides) {
        return report_ ? report_(overrides) : service_.submit_overrides(overrides);
    });
    return taken ? json(*std::move(taken)) : refuse(taken.error());
}

Response DecisionRoutes::handle_policy() const {
    const auto policy = service_.policy();
    if (policy == nullptr) {
        return error_response(base::make_error(Reason::kNoPolicy, "no policy is in force yet"));
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

Response StatusRoutes::handle_health(runtime::Probe probe) const {
    const auto report = health_.report(probe);
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

/// The checks of /readyz among them, the process and what the router has answered, as they are now.
Response StatusRoutes::handle_metrics(const http::Traffic& traffic) const {
    for (const auto& check : health_.report(runtime::Probe::kReady).checks) {
        metrics_.gauge(runtime::metric::kCheckOk, {{"check", check.name}})
            .set(check.status ? 1 : 0);
    }
    auto text = metrics_.prometheus_text([&](runtime::Samples& out) {
        write_process(out);
        write_traffic(traffic, out);
    });
    return {200, std::move(text), "text/plain; version=0.0.4", {}};
}

void DecisionRoutes::add_to(http::Router& router) const {
    router.add_group("POST", "/v1/decisions", Scope::kDecide,
                     [self = *this](auto requests) { self.handle_decisions(requests); });
    // the answer has the applicant's features
    router.add("GET", "/v1/decisions/{id}", Scope::kRead,
               [self = *this](const Request& request) { return self.handle_decision(request); });
    router.add("POST", "/v1/outcomes", Scope::kReport,
               [self = *this](const Request& request) { return self.handle_outcomes(request); });
    // each override has its own entry in the audit log, so a thousand of them take their time
    router.add(
        "POST", "/v1/overrides", Scope::kReport,
        [self = *this](const Request& request) { return self.handle_overrides(request); },
        Lane::kBulk);
    router.add(
        "GET", "/v1/policy", http::kOpen,
        [self = *this](const Request&) { return self.handle_policy(); }, Lane::kInline);
}

void StatusRoutes::add_to(http::Router& router) const {
    const auto add_health = [&](const char* path, runtime::Probe probe) {
        router.add(
            "GET", path, http::kOpen,
            [self = *this, probe](const Request&) { return self.handle_health(probe); },
            Lane::kInline);
    };
    add_health("/healthz", runtime::Probe::kLive);
    add_health("/readyz", runtime::Probe::kReady);
    router.add(
        "GET", "/metrics", http::kOpen,
        [self = *this, traffic = router.traffic()](const Request&) {
            return self.handle_metrics(*traffic);
        },
        Lane::kInline);
}

}  // namespace rampart::decision_service
