#include <algorithm>

#include "rampart/runtime/system_clock.hpp"
#include "services/decision_service/routes.hpp"
#include "services/rampartd/api/absent_routes.hpp"
#include "services/rampartd/api/assignment_routes.hpp"
#include "services/rampartd/api/attribute_routes.hpp"
#include "services/rampartd/api/audit_routes.hpp"
#include "services/rampartd/api/candidate_routes.hpp"
#include "services/rampartd/api/certificate_routes.hpp"
#include "services/rampartd/api/clock_routes.hpp"
#include "services/rampartd/api/console_routes.hpp"
#include "services/rampartd/api/event_routes.hpp"
#include "services/rampartd/api/explanation_routes.hpp"
#include "services/rampartd/api/job_routes.hpp"
#include "services/rampartd/api/model_routes.hpp"
#include "services/rampartd/api/notice_routes.hpp"
#include "services/rampartd/api/partition_routes.hpp"
#include "services/rampartd/api/policy_routes.hpp"
#include "services/rampartd/api/privacy_routes.hpp"
#include "services/rampartd/api/proposal_routes.hpp"
#include "services/rampartd/api/quarantine_routes.hpp"
#include "services/rampartd/api/report_routes.hpp"
#include "services/rampartd/api/review_routes.hpp"
#include "services/rampartd/api/run_routes.hpp"
#include "services/rampartd/api/search_routes.hpp"
#include "services/rampartd/api/session_routes.hpp"
#include "services/rampartd/api/status_routes.hpp"
#include "services/rampartd/api/stop_routes.hpp"
#include "services/rampartd/api/token_routes.hpp"
#include "services/rampartd/api/unmatched_routes.hpp"
#include "services/rampartd/console_bundle.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/notice_of.hpp"
#include "services/rampartd/person_jobs.hpp"
#include "services/rampartd/recorded_searches.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

void Node::add_routes(http::Router& router) {
    auto& registry = stores_->registry();
    auto& joiner = stores_->joiner();
    const auto& topics = stores_->topics();
    const JobAnswers answers(*requests_, settings_.jobs.wait);
    JobRoutes(*requests_).add_to(router);
    decision_service::StatusRoutes(health_, metrics_).add_to(router);
    ClockRoutes(
        *clock_, registry, [&joiner] { return joiner.clock(); },
        [this](TimePoint now) { return advance(now); })
        .add_to(router);
    AttributeRoutes([this](const auto& people) { return state_attributes(people); }).add_to(router);
    const bool audit = settings_.audit.enabled;
    PartitionRoutes({*clock_, registry, joiner, *decisions_, *applications_, topics,
                     [this] { return stopped(); }, audit,
                     [this](const auto& topic, auto p) { return resume_keys(topic, p); }})
        .add_to(router);
    QuarantineRoutes({*clock_, registry, joiner, *applications_, topics, audit}).add_to(router);
    TokenRoutes({callers_->file(), wall_,
                 [this, &registry](auto actor, auto operation, const auto& details) {
                     return registry.record_operation(clock_->now(), actor, operation, details);
                 },
                 [this] { return callers_->refresh().map([](bool) {}); }})
        .add_to(router);
    SessionRoutes({*sessions_,
                   [this, &registry](auto actor, auto operation) {
                       return registry.record_operation(clock_->now(), actor, operation, {});
                   },
                   settings_.http.tls || settings_.http.plaintext_anywhere})
        .add_to(router);
    ConsoleRoutes(console_bundle()).add_to(router);
    StatusRoutes({health_, jobs_, *requests_, *clock_, registry, joiner, *decisions_,
                  *applications_, topics, [this] { return stopped(); }, loop_->trainer(),
                  trainer_lease_.get(), served_roles(), *events_})
        .add_to(router);
    StopRoutes(*stops_, registry).add_to(router);
    AuditRoutes(registry).add_to(router);
    EventRoutes(*events_).add_to(router);
    add_decided_routes(answers, router);
    add_joined_routes(answers, router);
    add_trained_routes(answers, router);
}

/// Reads the log so far that none of its overrides is missing in what is joined.
Status Node::read_overrides() {
    const Status read = loop_->catch_up();
    const auto stopped = loop_->stopped();
    const bool others = std::none_of(stopped.begin(), stopped.end(), [&](const auto& one) {
        return one.topic == stores_->topics().outcomes;
    });
    return others && !stopped.empty() ? base::ok() : read;
}

Status Node::report_overrides(std::span<const domain::Override> overrides) {
    // where nothing is joined no review is opened either
    if (!settings_.log.roles.join) return decisions_->submit_overrides(overrides);
    return reviews_->report(overrides);
}

/// Adds the routes about decisions; of those of other nodes they name the owner.
void Node::add_decided_routes(const JobAnswers& answers, http::Router& router) {
    const auto defer = [answers](const auto& request, size_t overrides, const auto& failed) {
        return answers.answer(request, kOverrideJobs, request.body, overrides, failed);
    };
    const auto report = [this](auto overrides) { return report_overrides(overrides); };
    decision_service::DecisionRoutes(*decisions_, defer, true, report).add_to(router);
    const auto failed = [this](const auto& error, const auto& id) {
        return decision_service::failed(*decisions_, error, {&id, 1});
    };
    NoticeRoutes([this](const auto& id, auto language) { return notice_of(*this, id, language); },
                 failed)
        .add_to(router);
    add_for_role(ReviewRoutes(*reviews_, *clock_, failed), settings_.log.roles, Role::kJoin,
                 router);
    ExplanationRoutes([this](const auto& id) { return explanations_->of(id); }, failed)
        .add_to(router);
}

/// Adds the routes whose answers are in the joined state; persons are erased where holds and the
/// tally of the erased are, too.
void Node::add_joined_routes(const JobAnswers& answers, http::Router& router) {
    const auto& roles = settings_.log.roles;
    add_for_role(
        PrivacyRoutes({*clock_,
                       {stores_->person_keys(), stores_->holds(), stores_->registry()},
                       [this](const auto& person, auto actor, auto reason) {
                           return erase(person, actor, reason, true);
                       },
                       [this](const auto& application) { return person_behind(application); },
                       answers}),
        roles, Role::kTrain, router);
    add_for_role(UnmatchedRoutes(stores_->joiner(), *clock_), roles, Role::kJoin, router);
    const auto searches =
        std::make_shared<RecordedSearches>([this](auto principal, const auto& search) {
            return stores_->registry().record_operation(clock_->now(), principal, "read_decisions",
                                                        search);
        });
    const auto record = [this, searches](const auto& search, const auto& person, auto principal) {
        auto asked = filters_of(search);
        if (person) asked["person"] = base::to_hex(stores_->person_keys().tag_of(*person).value());
        if (!search.application.empty()) asked["by"] = "application";
        return searches->record(principal, asked, runtime::SystemClock().now());
    };
    add_for_role(SearchRoutes(stores_->joiner(), record), roles, Role::kJoin, router);
}

/// Adds the routes about models, runs and certificates.
void Node::add_trained_routes(const JobAnswers& answers, http::Router& router) {
    const auto& roles = settings_.log.roles;
    auto& registry = stores_->registry();
    ModelRoutes(registry, [this, &roles](auto actor, auto reason) -> Status {
        RAMPART_RETURN_IF_ERROR(check_role(roles, Role::kTrain));
        return rollback(actor, reason);
    }).add_to(router);
    add_for_role(CandidateRoutes(answers), roles, Role::kTrain, router);
    CertificateRoutes({*clock_, registry, settings_.audit.enabled}).add_to(router);
    const auto has_champions = [this, &roles]() -> Status {
        RAMPART_RETURN_IF_ERROR(check_role(roles, Role::kTrain));
        return stores_->log().shared() ? check_trains() : base::ok();
    };
    PolicyRoutes(registry, has_champions).add_to(router);
    add_for_role(
        ProposalRoutes({*clock_, registry, has_champions,
                        [this](auto number, auto by) { return loop_->approve(number, by); },
                        [this](auto number, auto by) { return loop_->reject(number, by); }}),
        roles, Role::kTrain, router);
    add_for_role(AssignmentRoutes({registry, has_champions,
                                   [this](auto assignment, auto actor, auto reason) {
                                       return loop_->start_assignment(std::move(assignment), actor,
                                                                      reason);
                                   },
                                   [this](const auto& id, auto actor, auto reason) {
                                       return loop_->end_assignment(id, actor, reason);
                                   }}),
                 roles, Role::kTrain, router);
    const auto runs = [this, &roles]() -> Result<std::vector<retraining::RunRecord>> {
        RAMPART_RETURN_IF_ERROR(check_role(roles, Role::kTrain));
        return loop_->runs();
    };
    const auto monitor = [this, &roles]() -> Result<std::string> {
        RAMPART_RETURN_IF_ERROR(check_role(roles, Role::kMonitor));
        return monitor_report();
    };
    RunRoutes(runs, monitor).add_to(router);
    ReportRoutes([this, &roles](const auto& request) -> Result<std::string> {
        RAMPART_RETURN_IF_ERROR(check_role(roles, Role::kMonitor));
        return store_report(request);
    }).add_to(router);
}

}  // namespace rampart::rampartd
