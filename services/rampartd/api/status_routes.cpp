#include "services/rampartd/api/status_routes.hpp"

#include <cmath>

#include "rampart/certification/delta_ledger.hpp"
#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/api/places.hpp"
#include "services/rampartd/api/stop_routes.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using base::TimePoint;
using http::Lane;

namespace {

Json number(double value) { return Json::parsed(fmt::format("{:.6g}", value)); }
Json number(const std::optional<double>& value) { return value ? number(*value) : Json(nullptr); }
Json time(const std::optional<TimePoint>& at) {
    return at ? Json(base::to_iso8601(*at)) : Json(nullptr);
}

Json to_json(const runtime::CheckResult& check) {
    return Json::object({{"name", check.name},
                         {"ok", check.status.has_value()},
                         {"required", check.required},
                         {"message", check.status ? std::string() : check.status.error().message}});
}

Json to_json(const runtime::JobState& job) {
    Json failure(nullptr);
    if (!job.last)
        failure = Json::object({{"reason", job.last.error().reason},
                                {"message", job.last.error().message},
                                {"in_a_row", job.in_a_row}});
    return Json::object({{"name", job.name},
                         {"running", job.running},
                         {"stuck", job.stuck},
                         {"seconds_since_success", number(job.since_success)},
                         {"running_seconds", job.running ? number(job.age) : Json(nullptr)},
                         {"next_in_seconds", number(job.next)},
                         {"runs", job.runs},
                         {"failures", job.failures},
                         {"failing", failure}});
}

Result<Json> budget_of(const registry::ModelRegistry& registry) {
    RAMPART_TRY(const auto entries, registry.ledger_entries());
    RAMPART_TRY(const auto ledger, certification::DeltaLedger::open(entries));
    if (!ledger.current()) return Json(nullptr);
    return Json::object({{"epoch", ledger.epoch()},
                         {"delta", number(ledger.current()->delta_epoch)},
                         {"spent", number(ledger.spent())},
                         {"runs_left", ledger.runs_left()}});
}

Json to_json(const retraining::RunRecord& run) {
    return Json::object({{"run", run.ordinal},
                         {"at", base::to_iso8601(run.at)},
                         {"verdict", certification::to_string(run.verdict)},
                         {"reason", run.reason},
                         {"message", run.message}});
}

Json to_json(const lease::TrainerLease& lease) {
    const auto holder = lease.holder();
    const auto status = lease.status();
    return Json::object({{"held", lease.held()},
                         {"node", holder ? Json(holder->node) : Json(nullptr)},
                         {"epoch", holder ? Json(holder->epoch) : Json(nullptr)},
                         {"message", status ? std::string() : status.error().message}});
}

}  // namespace

/// Returns null where training is off.
Result<Json> StatusRoutes::training() const {
    if (deps_.trainer == nullptr) return Json(nullptr);
    RAMPART_TRY(const auto runs, deps_.trainer->runs());
    RAMPART_TRY(const auto next, deps_.trainer->next_due());
    RAMPART_TRY(const auto budget, budget_of(deps_.registry));
    return Json::object({{"runs", runs.size()},
                         {"last", runs.empty() ? Json(nullptr) : to_json(runs.back())},
                         {"next_due", time(next)},
                         {"budget", budget},
                         {"lease", deps_.lease ? to_json(*deps_.lease) : Json(nullptr)}});
}

Json StatusRoutes::partitions() const {
    size_t deciding = 0;
    std::vector<Json> stopped, unread;
    for (const auto& view : deps_.decisions.partitions()) {
        if (view.status) {
            ++deciding;
        } else {
            stopped.push_back(
                stopped_to_json(deps_.topics.decisions, view.partition, view.status.error()));
        }
    }
    for (const auto& source : deps_.applications.stopped())
        unread.push_back(stopped_to_json(deps_.topics.applications, source.source, source.error));
    for (const auto& source : deps_.stopped())
        unread.push_back(stopped_to_json(source.topic, source.partition, source.error));
    const auto upkeep = deps_.joiner.upkeep();
    return Json::object({{"deciding", deciding},
                         {"not_deciding", Json::array(stopped)},
                         {"unread", Json::array(unread)},
                         {"rebuilding", upkeep.rebuilding},
                         {"refused", upkeep.refused}});
}

/// Returns null where nothing is joined.
Json StatusRoutes::joined() const {
    if (!deps_.roles.join) return Json(nullptr);
    const auto until = deps_.joiner.clock();
    std::optional<double> lag;
    if (until) lag = static_cast<double>((deps_.clock.now() - *until).micros()) / 1e6;
    const auto counts = deps_.joiner.counts();
    return Json::object({{"until", time(until)},
                         {"lag_seconds", number(lag)},
                         {"decisions", counts.decisions},
                         {"outcomes", counts.outcomes},
                         {"matured", counts.matured},
                         {"overdue", counts.overdue},
                         {"unmatched", counts.unmatched},
                         {"erased", counts.erased}});
}

Json StatusRoutes::requests() const {
    std::vector<Json> kinds;
    for (const auto& [kind, one] : deps_.requests.summary()) {
        kinds.push_back(Json::object({{"kind", kind.empty() ? "unreadable" : kind},
                                      {"waiting", one.waiting},
                                      {"running", one.running},
                                      {"failed", one.failed},
                                      {"oldest_seconds", number(one.oldest)}}));
    }
    return Json::array(kinds);
}

Result<http::Response> StatusRoutes::handle_status() const {
    const auto health = deps_.health.report(runtime::Probe::kReady);
    std::vector<Json> checks, jobs;
    for (const auto& check : health.checks) checks.push_back(to_json(check));
    for (const auto& job : deps_.jobs.states()) jobs.push_back(to_json(job));
    RAMPART_TRY(const auto training, this->training());
    const auto policy = deps_.decisions.policy();
    const auto names = names_of(deps_.roles);
    return json_response(Json::object(
        {{"roles", Json::array(std::vector<Json>(names.begin(), names.end()))},
         {"ready", health.ok()},
         {"degraded", health.degraded()},
         {"checks", Json::array(checks)},
         {"policy", policy == nullptr ? Json(nullptr) : Json(policy->id().value())},
         {"stops", stops_in_force(deps_.registry)},
         {"clock", Json::object({{"mode", deps_.clock.is_event_time() ? "event" : "system"},
                                 {"now", base::to_iso8601(deps_.clock.now())}})},
         {"jobs", Json::array(jobs)},
         {"requests", requests()},
         {"event_streams", deps_.events.count()},
         {"partitions", partitions()},
         {"joined", joined()},
         {"training", training}}));
}

void StatusRoutes::add_to(http::Router& router) const {
    router.add(
        "GET", "/v1/status", Scope::kRead,
        [self = *this](const auto&) { return respond(self.handle_status()); }, Lane::kBulk);
}

}  // namespace rampart::rampartd
