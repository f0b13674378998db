#include "rampart/serving/decision_service.hpp"

#include <chrono>
#include <tuple>
#include <utility>

#include "batch.hpp"
#include "instruments.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/domain/reasons.hpp"
#include "rampart/serving/reasons.hpp"
#include "rampart/wire/event_codec.hpp"

namespace rampart::serving {

using base::Result;
using base::Status;
using decision_log::DecisionIndex;
using decision_log::OwnedPartition;
using domain::Application;
using domain::Decision;
using streaming::PartitionId;
namespace limits = base::limits;

namespace {

constexpr base::Logger kLog("serving");
// A decision grows a little when it is decided again without exploration.
constexpr size_t kRecordMargin = 4096;
constexpr size_t kNamedFeatures = 500;  // in a metric, which takes 1000 label sets

/// Roughly what an application takes up on its way.
size_t bytes_of(const Application& application) {
    size_t bytes = sizeof(Application) + application.id.value().size();
    for (const auto& feature : application.features) {
        bytes += sizeof(feature) + feature.name.size();
        if (const auto* text = std::get_if<std::string>(&feature.value)) bytes += text->size();
    }
    return bytes;
}

}  // namespace

DecisionService::DecisionService(DecisionServiceOptions options, DecisionServiceDeps deps)
    : options_(std::move(options)),
      cool_off_{options_.product.name, options_.cool_off_days},
      deps_(deps),
      instruments_(std::make_unique<Instruments>(deps.metrics)),
      admission_(options_.max_waiting_applications, options_.max_waiting_bytes) {}

DecisionService::~DecisionService() = default;

Result<std::unique_ptr<DecisionService>> DecisionService::open(DecisionServiceOptions options,
                                                               DecisionServiceDeps deps) {
    RAMPART_RETURN_IF_ERROR(domain::validate(options.product));
    RAMPART_RETURN_IF_ERROR(deps.reader.partitions(options.outcomes_topic));
    auto log = std::move(options.log);
    std::unique_ptr<DecisionService> service(new DecisionService(std::move(options), deps));
    log.on_given_up = [&fenced = service->instruments_->fenced,
                       told = std::move(log.on_given_up)](PartitionId partition) {
        fenced.add();
        if (told) told(partition);
    };
    RAMPART_TRY(service->log_, decision_log::DecisionLog::open(
                                   std::move(log), {deps.reader, deps.writer, deps.clock}));
    deps.health.add(runtime::Probe::kReady, "decision_service",
                    [raw = service.get()] { return raw->ready(); });
    deps.health.add(runtime::Probe::kDegraded, "partitions",
                    [raw = service.get()] { return raw->log_->all_decide(); });
    return service;
}

Result<std::shared_ptr<const decision::PolicyInForce>> DecisionService::in_force(
    std::shared_ptr<const model::LoadedPolicy> loaded, bool certified) const {
    if (loaded->policy.group_aware() && !options_.group_lookup) {
        return base::make_error(
            Reason::kGroupBlindService,
            "policy {} reads the applicant's group; this service is group-blind", loaded->id);
    }
    if (options_.served.features().size() > 0) {
        const auto fits = options_.served.check_grown_from(loaded->policy.schema());
        if (!fits) return fits.error().with_context(fmt::format("policy {}", loaded->id));
    }
    return decision::PolicyInForce::create(std::move(loaded), certified);
}

Status DecisionService::set_policy(std::shared_ptr<const model::LoadedPolicy> loaded,
                                   bool certified) {
    RAMPART_TRY(auto next, in_force(std::move(loaded), certified));
    kLog.info("msg=\"policy in force\" policy={} certified={}", next->id(), certified);
    swap({.arms = {std::move(next)}});
    instruments_->swaps.add();
    return base::ok();
}

void DecisionService::withdraw_policy() {
    std::shared_ptr<const Policies> before;
    const std::lock_guard lock(policy_mutex_);
    before = std::exchange(policies_, nullptr);
    if (before != nullptr) kLog.error("msg=\"the policy is withdrawn: nothing is decided\"");
}

Status DecisionService::set_assignment(
    const domain::Assignment& assignment,
    const std::vector<std::shared_ptr<const model::LoadedPolicy>>& challengers) {
    RAMPART_RETURN_IF_ERROR(domain::validate(assignment));
    const auto now = policies();
    bool fit = now != nullptr && !options_.arm_key.secret.empty() &&
               assignment.arms.size() == challengers.size() + 1 &&
               assignment.arms.front().policy == now->arms.front()->id();
    for (size_t i = 0; fit && i < challengers.size(); ++i)
        fit = challengers[i]->id == assignment.arms[i + 1].policy;
    if (!fit) {
        return base::make_error(Reason::kOtherArms,
                                "assignment {}: the policies given are not those of its {} arms, "
                                "its first is not the champion's, or there is no key for arms",
                                assignment.id, assignment.arms.size());
    }
    Policies next{.arms = {now->arms.front()}, .assignment = assignment};
    for (const auto& challenger : challengers) {
        RAMPART_TRY(auto policy, in_force(challenger, true));
        next.arms.push_back(std::move(policy));
    }
    kLog.info("msg=\"arms in force\" assignment={} arms={}", assignment.id, next.arms.size());
    swap(std::move(next));
    return base::ok();
}

void DecisionService::end_assignment() {
    const auto now = policies();
    if (now == nullptr || !now->assignment) return;
    kLog.info("msg=\"the champion alone decides\" ended={}", now->assignment->id);
    swap({.arms = {now->arms.front()}});
}

std::string DecisionService::assignment() const {
    const auto now = policies();
    return now != nullptr && now->assignment ? now->assignment->id : "";
}

/// Puts the policies in force, under what is stopped; those that go are destroyed outside the lock.
void DecisionService::swap(Policies next) {
    auto put = std::make_shared<Policies>(std::move(next));
    std::shared_ptr<const Policies> before;
    const std::lock_guard lock(policy_mutex_);
    put->stops = stops_;
    put->rules = rules_;
    before = std::exchange(policies_, std::move(put));
}

Status DecisionService::set_stops(const Stops& stops) {
    std::shared_ptr<const decision::PolicyInForce> rules;
    if (stops.rules) {
        RAMPART_TRY(rules, in_force(stops.rules, false));
    }
    std::shared_ptr<const Policies> before;
    {
        const std::lock_guard lock(policy_mutex_);
        if (stops == stops_) return base::ok();
        stops_ = stops;
        rules_ = rules;
        if (policies_ != nullptr) {
            auto put = std::make_shared<Policies>(*policies_);
            put->stops = stops;
            put->rules = std::move(rules);
            before = std::exchange(policies_, std::move(put));
        }
    }
    kLog.warning("msg=\"stops in force\" exploration={} rules_only={} deciding={} refer_all={}",
                 stops.exploration, stops.rules != nullptr, stops.deciding, stops.refer);
    instruments_->exploration_stopped.set(stops.exploration ? 1 : 0);
    instruments_->rules_only.set(stops.rules || stops.deciding ? 1 : 0);
    instruments_->refer_all.set(stops.refer ? 1 : 0);
    return base::ok();
}

std::shared_ptr<const DecisionService::Policies> DecisionService::policies() const {
    const std::lock_guard lock(policy_mutex_);
    return policies_;
}

std::shared_ptr<const decision::PolicyInForce> DecisionService::policy() const {
    const auto now = policies();
    return now == nullptr ? nullptr : now->arms.front();
}

Status DecisionService::ready() const {
    const auto now = policies();
    if (now == nullptr) return base::make_error(Reason::kNoPolicy, "no policy is in force yet");
    RAMPART_RETURN_IF_ERROR(now->check());
    return log_->any_decides();
}

PartitionId DecisionService::partition_of(const domain::ApplicationId& application) const {
    return log_->home_of(domain::decision_id_of(application));
}

std::string DecisionService::owner_address(std::span<const domain::DecisionId> decisions) const {
    for (const auto& id : decisions) {
        const PartitionId home = log_->home_of(id);
        if (!log_->is_elsewhere(home)) continue;
        const auto owner = log_->other_owner(home);
        return owner ? owner->address : "";
    }
    return "";
}

DecisionIndex* DecisionService::index_of(PartitionId partition) {
    OwnedPartition* found = log_->owned(partition);
    return found == nullptr || found->given_up() ? nullptr : &found->index();
}

EventWindow DecisionService::event_window() const {
    const bool unknown = options_.time_unknown && options_.time_unknown();
    return unknown ? EventWindow{kWidestWindow, kWidestWindow} : options_.event_window;
}

Result<DecisionService::Candidate> DecisionService::prepare(const Application& application,
                                                            const Policies& policies,
                                                            const std::string& request_id) const {
    RAMPART_RETURN_IF_ERROR(domain::validate(application));
    Candidate candidate;
    candidate.request_id = request_id;
    candidate.application = &application;
    const PartitionId home = partition_of(application.id);
    candidate.partition = log_->owned(home);
    if (candidate.partition == nullptr) return log_->not_owner(home);
    const OwnedPartition& partition = *candidate.partition;
    RAMPART_TRY(auto stored, log_->look_up(partition, domain::decision_id_of(application.id)));
    if (stored) {
        RAMPART_RETURN_IF_ERROR(check_same(application, *stored));
        candidate.decision = *std::move(stored);
        candidate.stored = true;
        return candidate;
    }
    if (const auto status = partition.status(); !status && !partition.is_behind()) {
        return log_->refusal(partition, status.error());
    }
    const base::TimePoint now = deps_.clock.now();
    RAMPART_RETURN_IF_ERROR(check_event_time(application, now, event_window()));
    std::tie(candidate.policy, candidate.arm) = policies.of(options_.arm_key, application.person);
    const auto& policy = candidate.policy->policy();
    for (const auto& feature : application.features)
        RAMPART_RETURN_IF_ERROR(options_.served.check_accepted(feature.name, now));
    RAMPART_TRY(candidate.row, decision::encode_row(application, policy.schema(), options_.served));
    if (policy.group_aware()) {
        RAMPART_TRY(candidate.group, options_.group_lookup(application.person));
    }
    RAMPART_TRY(const uint64_t explored, partition.index().explored_on(base::day_of(now)));
    const bool explores = !policies.stops.exploration && explored < partition.exploration_per_day();
    RAMPART_RETURN_IF_ERROR(
        candidate.decide(options_.draw_key, cool_off_, explores, policies.stops.refer, now));
    if (wire::encode(candidate.decision).size() + kRecordMargin > limits::kMaxRecordBytes) {
        return base::make_error(domain::Reason::kApplicationTooLarge,
                                "application '{}' does not fit into a record of {} bytes",
                                application.id, limits::kMaxRecordBytes);
    }
    return candidate;
}

/// Decides the batch; an error means that there was no trying. `request_ids`: none, one for all, or
/// one for each.
Status DecisionService::run(Batch& batch, std::span<const Application> applications,
                            std::span<const std::string> request_ids) {
    const auto start = std::chrono::steady_clock::now();
    RAMPART_RETURN_IF_ERROR(check_batch("applications", applications.size()));
    size_t bytes = 0;
    for (const auto& application : applications) bytes += bytes_of(application);
    const auto place = admission_.enter(applications.size(), bytes);
    if (!place) {
        instruments_->overloaded.add();
        return place.error();
    }
    batch.policies = policies();
    if (batch.policies == nullptr) {
        return base::make_error(Reason::kNoPolicy, "no policy is in force yet; retry later");
    }
    RAMPART_RETURN_IF_ERROR(batch.policies->check());
    batch.candidates.reserve(applications.size());
    for (size_t i = 0; i < applications.size(); ++i) {
        const auto& application = applications[i];
        const auto& request_id =
            request_ids.empty() ? std::string() : request_ids[i % request_ids.size()];
        auto candidate = prepare(application, *batch.policies, request_id);
        if (candidate) {
            batch.candidates.push_back(*std::move(candidate));
            continue;
        }
        if (batch.whole) {
            return at("applications", batch.candidates.size(), applications.size(),
                      log_->unless_rebuilding(partition_of(application.id), candidate.error()));
        }
        batch.candidates.emplace_back().error =
            log_->unless_rebuilding(partition_of(application.id), candidate.error());
    }
    if (options_.before_append) {
        std::vector<domain::PersonId> people;
        for (const auto& candidate : batch.candidates) {
            if (!candidate.error && !candidate.stored)
                people.push_back(candidate.application->person);
        }
        options_.before_append(people);
    }
    log_->commit(batch);
    for (auto& candidate : batch.candidates) {
        if (!candidate.error || candidate.partition == nullptr) continue;
        candidate.error = log_->unless_rebuilding(candidate.partition->id(), *candidate.error);
    }
    report_declined(batch);
    instruments_->decide_seconds.observe(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return base::ok();
}

void DecisionService::report_declined(const Batch& batch) const {
    if (!options_.on_declined || (batch.whole && batch.first_error() != nullptr)) return;
    std::vector<domain::DecisionId> ids;
    for (const auto& candidate : batch.candidates) {
        if (!candidate.error && !candidate.stored &&
            candidate.decision.action == domain::Action::kDecline)
            ids.push_back(candidate.decision.id);
    }
    if (!ids.empty()) options_.on_declined(ids);
}

Result<std::vector<Decision>> DecisionService::decide(std::span<const Application> applications,
                                                      const std::string& request_id) {
    Batch batch(*log_, options_.draw_key, cool_off_, true);
    RAMPART_RETURN_IF_ERROR(run(batch, applications, {&request_id, 1}));
    if (batch.first_error() != nullptr) return batch.error();
    std::vector<Decision> decisions;
    decisions.reserve(batch.candidates.size());
    for (auto& candidate : batch.candidates) {
        count(candidate.decision, batch.policies->arms.front()->policy());
        decisions.push_back(std::move(candidate.decision));
    }
    return decisions;
}

Result<std::vector<Result<Decision>>> DecisionService::decide_each(
    std::span<const Application> applications, std::span<const std::string> request_ids) {
    Batch batch(*log_, options_.draw_key, cool_off_, false);
    RAMPART_RETURN_IF_ERROR(run(batch, applications, request_ids));
    std::vector<Result<Decision>> results;
    results.reserve(batch.candidates.size());
    for (auto& candidate : batch.candidates) {
        if (candidate.error) {
            results.emplace_back(*std::move(candidate.error));
            continue;
        }
        count(candidate.decision, batch.policies->arms.front()->policy());
        results.emplace_back(std::move(candidate.decision));
    }
    return results;
}

/// Returns the policy's features whose category it does not know.
std::vector<size_t> DecisionService::unseen_by(const model::Policy& policy,
                                               const Application& application) const {
    if (options_.served.plain()) return decision::unseen_categories(application, policy.schema());
    const auto same = decision::in_terms_of(application, policy.schema(), options_.served);
    return same ? decision::unseen_categories(*same, policy.schema()) : std::vector<size_t>();
}

void DecisionService::count(const Decision& decision, const model::Policy& policy) {
    auto& counter = decision.action == domain::Action::kDecline ? instruments_->declined
                    : decision.action == domain::Action::kRefer ? instruments_->referred
                    : decision.explored                         ? instruments_->explored
                                                                : instruments_->approved;
    counter.add();
    instruments_->by_policy->add(decision.policy.value());
    for (const size_t i : unseen_by(policy, decision.application)) {
        const auto& name = policy.schema().features()[i].name;
        deps_.metrics
            .counter(runtime::metric::kUnseenCategories,
                     {{"feature", i < kNamedFeatures ? name : "others"}})
            .add();
    }
}

std::vector<std::string> DecisionService::unseen_categories(const Application& application) const {
    std::vector<std::string> names;
    const auto in_force = policy();
    if (in_force == nullptr) return names;
    const auto& schema = in_force->policy().schema();
    for (const size_t i : unseen_by(in_force->policy(), application)) {
        names.push_back(schema.features()[i].name);
    }
    return names;
}

bool DecisionService::mend() {
    const bool more = log_->mend();
    const auto upkeep = log_->upkeep();
    const runtime::Labels decisions{{"database", "decisions"}};
    deps_.metrics.counter(runtime::metric::kSetAside, decisions).add(upkeep.set_aside - set_aside_);
    set_aside_ = upkeep.set_aside;
    deps_.metrics.gauge(runtime::metric::kRebuilding, decisions)
        .set(static_cast<double>(upkeep.rebuilding));
    deps_.metrics.gauge(runtime::metric::kRefused, decisions)
        .set(static_cast<double>(upkeep.refused));
    return more;
}

void DecisionService::give_up(PartitionId partition, const std::string& to) {
    if (log_->give_up(partition, to)) instruments_->fenced.add();
}

Status DecisionService::erase(std::span<const domain::DecisionId> decisions, base::TimePoint now) {
    return log_->erase(decisions, now);
}

Status DecisionService::erase_unreadable(std::span<const domain::DecisionId> decisions,
                                         base::TimePoint now) {
    RAMPART_TRY(const auto left, log_->not_erased(decisions));
    if (left.empty()) return base::ok();
    kLog.info("msg=\"erasing what was decided while the person's key was destroyed\" decisions={}",
              left.size());
    return erase(left, now);
}

Result<Decision> DecisionService::find(const domain::DecisionId& id) const {
    RAMPART_RETURN_IF_ERROR(domain::check_id("decision_id", id.value()));
    const PartitionId home = log_->home_of(id);
    const OwnedPartition* partition = log_->owned(home);
    if (partition == nullptr) return log_->not_owner(home);
    RAMPART_TRY(auto decision, log_->look_up(*partition, id));
    if (decision) return *std::move(decision);
    // it may be in the part of the log that was not read
    if (const auto status = partition->status(); !status) {
        return log_->refusal(*partition, status.error());
    }
    return base::make_error(Reason::kUnknownDecision, "there is no decision '{}'", id);
}

}  // namespace rampart::serving
