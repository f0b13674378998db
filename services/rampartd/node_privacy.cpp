#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/storage/derived_database.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/route_bodies.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;
namespace json = boost::json;

namespace {

constexpr size_t kMaxListed = 1000;

Result<bool> yes_or_no(std::string_view name, const std::string& text) {
    if (text == "yes") return true;
    if (text == "no") return false;
    return base::make_error(base::Reason::kBadFlag, "$.{} is \"yes\" or \"no\"", name);
}

json::object to_json(const privacy::Hold& hold, TimePoint now) {
    return {
        {"person", base::to_hex(hold.person.value())},
        {"matter", hold.matter},
        {"reason", hold.reason},
        {"actor", hold.actor},
        {"since", base::to_iso8601(hold.since)},
        {"until", hold.until ? json::value(base::to_iso8601(*hold.until)) : json::value(nullptr)},
        {"in_force", !hold.until || now < *hold.until}};
}

json::object to_json(const ErasureReport& report, bool dry_run) {
    json::array decisions, remains;
    for (const auto& one : report.decisions) {
        decisions.push_back(json::object{{"decision_id", one.decision.value()},
                                         {"decided_at", base::to_iso8601(one.decided_at)}});
    }
    for (const auto& sentence : report.remains) remains.emplace_back(sentence);
    return {{"erased", !dry_run},
            {"decisions", decisions},
            {"quarantined", report.quarantined},
            {"protected_attributes", report.attributes},
            {"keys_destroyed", report.keys},
            {"in_clear", report.in_clear},
            {"remains", remains}};
}

/// How long examples have been without a value, or reports without their decision.
json::array by_age(TimePoint now, const std::vector<TimePoint>& since) {
    constexpr int kDays[] = {30, 90, 180, 365};
    std::array<size_t, std::size(kDays) + 1> counts{};
    for (const TimePoint time : since) {
        size_t bin = 0;
        while (bin < std::size(kDays) && now - time > base::Duration::days(kDays[bin])) ++bin;
        ++counts[bin];
    }
    json::array out;
    for (size_t bin = 0; bin < counts.size(); ++bin) {
        const auto upto = bin < std::size(kDays) ? json::value(kDays[bin]) : json::value(nullptr);
        out.push_back(json::object{{"up_to_days", upto}, {"count", counts[bin]}});
    }
    return out;
}

}  // namespace

Status Node::open_privacy() {
    if (log_->shared()) {
        key_feed_ = std::make_unique<KeyFeed>(log_->reader(), log_->writer(), wall_clock_,
                                              log_->topics().person_keys);
    }
    const auto folder = settings_.store / "privacy";
    std::error_code failure;  // storage says what is wrong with the path
    std::filesystem::create_directories(folder, failure);
    RAMPART_TRY(person_keys_,
                privacy::PersonKeys::open(folder / "keys", keys_.person, key_feed_.get(), memory_));
    RAMPART_TRY(register_, privacy::Register::open(folder / "register", memory_));
    RAMPART_RETURN_IF_ERROR(note_sealing());
    log_->seal_with(*person_keys_, settings_.privacy.encrypt_log);
    return base::ok();
}

/// Whether an erasure has to look for decisions that lie in the embedded log unsealed. A log that
/// others write to is looked through whatever was noted.
Status Node::note_sealing() {
    if (!settings_.privacy.encrypt_log) return register_->note_clear_log();
    if (log_->shared()) return base::ok();
    for (int32_t p = 0; p < settings_.log.partitions; ++p) {
        RAMPART_TRY(const auto end,
                    log_->reader().end_offset(log_->topics().decisions, streaming::PartitionId(p)));
        if (end.value() > 0) return base::ok();
    }
    return register_->note_sealed_log();
}

/// Each of them, before it is in the log, and each time that it is sent: what people do against the
/// policy is nobody's secret.
Status Node::record_overrides(std::span<const domain::Override> overrides) {
    for (const auto& taken : overrides) {
        RAMPART_RETURN_IF_ERROR(registry_->record_operation(
            clock_->now(), taken.actor, "override",
            {{"decision", taken.decision.value()},
             {"revision", std::to_string(taken.revision)},
             {"action_taken",
              taken.action_taken == domain::Action::kApprove ? "approve" : "decline"},
             {"reason", taken.reason}}));
    }
    return base::ok();
}

Result<domain::PersonId> Node::person_behind(const domain::ApplicationId& application) {
    RAMPART_RETURN_IF_ERROR(domain::check_id("application_id", application.value()));
    const std::lock_guard lock(mutex_);
    RAMPART_RETURN_IF_ERROR(catch_up());
    RAMPART_TRY(const auto decision, joiner_->find_decision(domain::decision_id_of(application)));
    if (!decision) {
        return base::make_error(Reason::kUnknownApplication,
                                "nothing is known here of application '{}', or not any more; name "
                                "the person, or ask the node that holds its partition",
                                application);
    }
    return decision->application.person;
}

Result<ErasureReport> Node::erase(const domain::PersonId& person, std::string_view actor,
                                  std::string_view reason, bool dry_run) {
    const std::lock_guard lock(mutex_);
    RAMPART_TRY(auto set_aside, storage::find_set_aside(settings_.store / "partitions"));
    const ErasureDeps deps{settings_.log,
                           settings_.privacy.retention_months,
                           log_->topics().decisions,
                           std::move(set_aside),
                           log_->sealed_reader(),
                           *joiner_,
                           *decisions_,
                           *applications_,
                           *protected_,
                           attributes_ ? &*attributes_ : nullptr,
                           *person_keys_,
                           *register_,
                           *registry_,
                           [this] { return catch_up(); }};
    return erase_person(deps,
                        {person, std::string(actor), std::string(reason), clock_->now(), dry_run});
}

Result<http::Response> Node::take_erasure(const http::Request& request) {
    // by the person's id or by that of one of his applications
    auto members = text_members(request.body, {"application_id", "actor", "reason", "dry_run"});
    const bool by_application = members.has_value();
    if (!by_application) {
        members = text_members(request.body, {"person_id", "actor", "reason", "dry_run"});
    }
    if (!members) return members.error();
    RAMPART_TRY(const bool dry_run, yes_or_no("dry_run", members->at("dry_run")));
    domain::PersonId person;
    if (by_application) {
        RAMPART_TRY(person, person_behind(domain::ApplicationId(members->at("application_id"))));
    } else {
        person = domain::PersonId(members->at("person_id"));
    }
    RAMPART_TRY(const auto report,
                erase(person, members->at("actor"), members->at("reason"), dry_run));
    return json_response(to_json(report, dry_run));
}

Result<http::Response> Node::take_hold(const http::Request& request, bool add) {
    std::vector<std::string> names{"person_id", "matter", "actor", "reason"};
    if (add) names.emplace_back("until");
    RAMPART_TRY(const auto members, text_members(request.body, names));
    const domain::PersonId person(members.at("person_id"));
    RAMPART_RETURN_IF_ERROR(domain::check_id("person_id", person.value()));
    if (members.at("reason").empty()) {
        return base::make_error(registry::Reason::kReasonMissing,
                                "$.reason is empty; say why for the audit log");
    }
    privacy::Hold hold{person_keys_->tag_of(person), members.at("matter"), members.at("reason"),
                       members.at("actor"),          clock_->now(),        {}};
    std::map<std::string, std::string> details{{"person", base::to_hex(hold.person.value())},
                                               {"matter", hold.matter},
                                               {"reason", hold.reason}};
    if (add && !members.at("until").empty()) {
        RAMPART_TRY(hold.until, base::parse_iso8601(members.at("until")));
        details["until"] = members.at("until");
    }
    RAMPART_RETURN_IF_ERROR(registry_->record_operation(hold.since, hold.actor,
                                                        add ? "hold_add" : "hold_remove", details));
    RAMPART_RETURN_IF_ERROR(add ? register_->add(hold)
                                : register_->remove(hold.person, hold.matter));
    return json_response(to_json(hold, hold.since));
}

Result<http::Response> Node::list_holds() const {
    RAMPART_TRY(const auto holds, register_->holds());
    json::array out;
    for (const auto& hold : holds) out.push_back(to_json(hold, clock_->now()));
    return json_response(json::object{{"holds", out}});
}

Result<http::Response> Node::list_unmatched() const {
    RAMPART_TRY(const auto unmatched, joiner_->list_dangling(kMaxListed));
    RAMPART_TRY(const auto overdue, joiner_->list_overdue(kMaxListed));
    const auto counts = joiner_->counts();
    const TimePoint now = joiner_->clock().value_or(clock_->now());
    json::array waiting, owed;
    std::vector<TimePoint> reported, matured;
    for (const auto& one : unmatched) {
        TimePoint first = now;
        for (const auto& outcome : one.outcomes) first = std::min(first, outcome.observed_at);
        for (const auto& taken : one.overrides) first = std::min(first, taken.at);
        reported.push_back(first);
        waiting.push_back(json::object{{"decision_id", one.decision.value()},
                                       {"outcomes", one.outcomes.size()},
                                       {"overrides", one.overrides.size()},
                                       {"since", base::to_iso8601(first)}});
    }
    for (const auto& one : overdue) {
        matured.push_back(one.matured_at);
        owed.push_back(json::object{{"decision_id", one.decision.value()},
                                    {"measure", one.measure},
                                    {"since", base::to_iso8601(one.matured_at)}});
    }
    return json_response(json::object{{"as_of", base::to_iso8601(now)},
                                      {"unmatched_reports", counts.dangling},
                                      {"overdue_examples", counts.overdue},
                                      {"unmatched", waiting},
                                      {"unmatched_by_age", by_age(now, reported)},
                                      {"overdue", owed},
                                      {"overdue_by_age", by_age(now, matured)},
                                      {"listed_at_most", kMaxListed}});
}

void Node::add_privacy_routes(http::Router& router) {
    using http::Access, http::Lane;
    router.add(
        "POST", "/v1/erasures", Access::kToken,
        [this](const auto& r) { return respond(take_erasure(r)); }, Lane::kAdministrative);
    router.add("GET", "/v1/holds", Access::kToken,
               [this](const auto&) { return respond(list_holds()); });
    router.add("POST", "/v1/holds", Access::kToken,
               [this](const auto& r) { return respond(take_hold(r, true)); });
    router.add("POST", "/v1/holds/remove", Access::kToken,
               [this](const auto& r) { return respond(take_hold(r, false)); });
    router.add(
        "GET", "/v1/unmatched", Access::kToken,
        [this](const auto&) { return respond(list_unmatched()); }, Lane::kBulk);
}

}  // namespace rampart::rampartd
