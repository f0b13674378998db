#include "services/decision_service/decision_service.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/domain/reasons.hpp"
#include "rampart/storage/reasons.hpp"
#include "rampart/streaming/partitioner.hpp"
#include "rampart/streaming/reasons.hpp"
#include "rampart/wire/event_codec.hpp"
#include "rampart/wire/reasons.hpp"
#include "rampart/wire/record_codec.hpp"
#include "services/decision_service/batch.hpp"
#include "services/decision_service/reasons.hpp"

namespace rampart::decision_service {

using base::Result;
using base::Status;
using domain::Application;
using domain::Decision;
using streaming::PartitionId;
namespace limits = base::limits;

namespace {

constexpr base::Logger kLog("decision_service");
// A decision grows a little when it is decided again without exploration.
constexpr size_t kRecordMargin = 4096;
// Of one append; below what any log takes at once.
constexpr size_t kMaxAppendBytes = 16u << 20;
constexpr size_t kRecentOutcomes = 1u << 15;  // a second or more until they are joined
// Most records of a partition read before the first answer; mend() reads the rest.
constexpr size_t kFirstReading = 1000;
constexpr size_t kNamedFeatures = 500;  // in a metric, which takes 1000 label sets

Status check_batch(std::string_view what, size_t size) {
    if (size >= 1 && size <= limits::kMaxBatch) return base::ok();
    return base::make_error(wire::Reason::kBadBatch, "{} {}; 1 to {} are allowed", size, what,
                            limits::kMaxBatch);
}

/// Roughly what an application takes up on its way.
size_t bytes_of(const Application& application) {
    size_t bytes = sizeof(Application) + application.id.value().size();
    for (const auto& feature : application.features) {
        bytes += sizeof(feature) + feature.name.size();
        if (const auto* text = std::get_if<std::string>(&feature.value)) bytes += text->size();
    }
    return bytes;
}

Result<std::vector<PartitionId>> owned_of(const DecisionServiceOptions& options) {
    if (options.partitions < 1 || options.partitions > kMaxPartitions) {
        return base::make_error(streaming::Reason::kBadPartitions,
                                "{} partitions; 1 to {} are allowed", options.partitions,
                                kMaxPartitions);
    }
    std::vector<PartitionId> owned = options.owned;
    if (owned.empty()) {
        for (int32_t p = 0; p < options.partitions; ++p) owned.emplace_back(p);
    }
    std::sort(owned.begin(), owned.end());
    const bool twice = std::adjacent_find(owned.begin(), owned.end()) != owned.end();
    if (twice || owned.front().value() < 0 || owned.back().value() >= options.partitions) {
        return base::make_error(streaming::Reason::kBadPartitions,
                                "the partitions to own have to be different ones of 0 to {}",
                                options.partitions - 1);
    }
    return owned;
}

}  // namespace

struct DecisionService::Instruments {
    explicit Instruments(runtime::Metrics& metrics)
        : approved(decisions(metrics, "approve", "no")),
          explored(decisions(metrics, "approve", "yes")),
          declined(decisions(metrics, "decline", "no")),
          outcomes(metrics.counter("rampart_outcomes_total", "Outcomes taken in.")),
          overrides(metrics.counter("rampart_overrides_total",
                                    "Overrides by people taken in, repeats included.")),
          swaps(metrics.counter("rampart_policy_swaps_total", "Policies put in force.")),
          overloaded(metrics.counter("rampart_overload_refusals_total",
                                     "Requests for decisions refused, as too many were waiting.")),
          fenced(metrics.counter("rampart_partitions_given_up_total",
                                 "Partitions that another node was found to have taken over.")),
          decide_seconds(metrics.histogram("rampart_decide_seconds",
                                           "Time of a request for decisions, until durable.",
                                           runtime::latency_bounds())) {}

    static runtime::Counter& decisions(runtime::Metrics& metrics, std::string_view action,
                                       std::string_view explored) {
        return metrics.counter(
            "rampart_decisions_total", "Decisions answered, repeats included.",
            {{"action", std::string(action)}, {"explored", std::string(explored)}});
    }

    runtime::Counter &approved, &explored, &declined, &outcomes, &overrides, &swaps, &overloaded,
        &fenced;
    runtime::Histogram& decide_seconds;
};

DecisionService::DecisionService(DecisionServiceOptions options, DecisionServiceDeps deps)
    : options_(std::move(options)),
      deps_(deps),
      instruments_(std::make_unique<Instruments>(deps.metrics)),
      admission_(options_.max_waiting_applications, options_.max_waiting_bytes),
      recent_outcomes_(kRecentOutcomes) {}

DecisionService::~DecisionService() = default;

Result<std::unique_ptr<DecisionService>> DecisionService::open(DecisionServiceOptions options,
                                                               DecisionServiceDeps deps) {
    RAMPART_RETURN_IF_ERROR(domain::validate(options.product));
    RAMPART_RETURN_IF_ERROR(deps.reader.partitions(options.outcomes_topic));
    RAMPART_TRY(const int32_t partitions, deps.reader.partitions(options.decisions_topic));
    if (partitions < options.partitions) {
        return base::make_error(
            streaming::Reason::kPartitionsChanged,
            "topic '{}' has {} partitions, and {} are configured; the number is fixed once "
            "decisions are in it",
            options.decisions_topic, partitions, options.partitions);
    }
    std::unique_ptr<DecisionService> service(new DecisionService(std::move(options), deps));
    service->partitions_added_ = partitions > service->options_.partitions;
    RAMPART_RETURN_IF_ERROR(service->open_partitions());
    RAMPART_RETURN_IF_ERROR(service->claim_partitions());
    deps.health.add(runtime::Probe::kReady, "decision_service",
                    [raw = service.get()] { return raw->ready(); });
    deps.health.add(runtime::Probe::kDegraded, "partitions",
                    [raw = service.get()] { return raw->all_decide(); });
    return service;
}

Status DecisionService::open_partitions() {
    RAMPART_TRY(const auto owned, owned_of(options_));
    partitions_.resize(static_cast<size_t>(options_.partitions));
    for (const PartitionId p : owned) {
        RAMPART_TRY(auto index,
                    DecisionIndex::open(
                        {options_.partitions_folder / std::to_string(p.value()) / "decisions",
                         options_.decisions_topic, p, options_.partitions, options_.memory,
                         options_.environment},
                        deps_.reader));
        auto& partition = partitions_[static_cast<size_t>(p.value())];
        partition = std::make_unique<OwnedPartition>(
            std::move(index),
            exploration_share(options_.exploration_per_day, p, options_.partitions));
        const auto status = partition->begin(kFirstReading);
        if (!status && !is_gap(status.error()) && !partition->is_rebuilding()) return status;
    }
    return base::ok();
}

/// Claims after the indices have caught up, so that a partition is without an owner for as short a
/// time as can be.
Status DecisionService::claim_partitions() {
    Epochs fences;
    for (const auto& partition : partitions_) {
        if (partition) fences[partition->id()] = partition->index().fence().epoch;
    }
    if (!options_.claim) {
        for (const auto& [p, epoch] : fences) {
            if (epoch == 0) continue;
            return base::make_error(
                Reason::kFenced,
                "partition {} has a fence of epoch {}: the log is shared by nodes that hold "
                "leases, "
                "and without one this node's decisions would not count",
                p, epoch);
        }
        return base::ok();
    }
    RAMPART_TRY(claimed_, options_.claim(fences));
    for (const auto& partition : partitions_) {
        if (partition && partition->status()) RAMPART_RETURN_IF_ERROR(take(*partition));
    }
    return base::ok();
}

Status DecisionService::take(OwnedPartition& partition) {
    if (!options_.claim) return base::ok();
    const auto claimed = claimed_.find(partition.id());
    if (claimed == claimed_.end()) {
        return base::make_error(Reason::kNoEpoch, "partition {} was claimed without an epoch",
                                partition.id());
    }
    return partition.take(claimed->second, options_.node, deps_.clock.now(),
                          options_.decisions_topic, deps_.writer);
}

Status DecisionService::set_policy(std::shared_ptr<const model::LoadedPolicy> loaded,
                                   bool certified) {
    if (loaded->policy.group_aware() && !options_.group_lookup) {
        return base::make_error(
            Reason::kGroupBlindService,
            "policy {} reads the applicant's group; this service is group-blind", loaded->id);
    }
    RAMPART_TRY(auto next, decision::PolicyInForce::create(std::move(loaded), certified));
    kLog.info("msg=\"policy in force\" policy={} certified={}", next->id(), certified);
    {
        const std::lock_guard lock(policy_mutex_);
        policy_.swap(next);
    }
    instruments_->swaps.add();
    return base::ok();  // the policy that went is destroyed here, outside the lock
}

std::shared_ptr<const decision::PolicyInForce> DecisionService::policy() const {
    const std::lock_guard lock(policy_mutex_);
    return policy_;
}

Status DecisionService::ready() const {
    if (policy() == nullptr)
        return base::make_error(Reason::kNoPolicy, "no policy is in force yet");
    return std::any_of(partitions_.begin(), partitions_.end(),
                       [](const auto& partition) { return partition && partition->status(); })
               ? base::ok()
               : all_decide();
}

/// The first owned partition that nothing is decided for, and how many there are.
Status DecisionService::all_decide() const {
    size_t owned = 0, stopped = 0;
    std::optional<base::Error> first;
    for (const auto& partition : partitions_) {
        if (!partition) continue;
        ++owned;
        const auto status = partition->status();
        if (status) continue;
        ++stopped;
        if (!first) {
            first = status.error().with_context(fmt::format("partition {}", partition->id()));
        }
    }
    if (!first) return base::ok();
    return first->with_context(
        fmt::format("{} of {} partitions stand still, the first", stopped, owned));
}

PartitionId DecisionService::partition_of(const domain::ApplicationId& application) const {
    return streaming::partition_of(domain::decision_id_of(application).value(),
                                   options_.partitions);
}

OwnedPartition* DecisionService::owned(PartitionId partition) const {
    const auto at = static_cast<size_t>(partition.value());
    return partition.value() >= 0 && at < partitions_.size() ? partitions_[at].get() : nullptr;
}

DecisionIndex* DecisionService::index_of(PartitionId partition) {
    OwnedPartition* found = owned(partition);
    return found == nullptr || found->given_up() ? nullptr : &found->index();
}

base::Error DecisionService::not_owner(PartitionId partition) const {
    const auto owner = options_.owner_of ? options_.owner_of(partition) : std::nullopt;
    return base::make_error(
        Reason::kNotOwner, "partition {} of {} is not decided here but by {}; ask there", partition,
        options_.partitions, owner ? fmt::format("the node '{}'", *owner) : "another node");
}

/// Why nothing is decided for the partition now.
base::Error DecisionService::refusal(const OwnedPartition& partition,
                                     const base::Error& why) const {
    if (partition.given_up()) return not_owner(partition.id());
    if (!is_gap(why) && !why.is(storage::Reason::kStateDamaged)) return why;
    return base::make_error(Reason::kPartitionStopped, "partition {} stands still: {}",
                            partition.id(), why.message);
}

EventWindow DecisionService::event_window() const {
    const bool unknown = options_.time_unknown && options_.time_unknown();
    return unknown ? EventWindow{kWidestWindow, kWidestWindow} : options_.event_window;
}

Result<DecisionService::Candidate> DecisionService::prepare(
    const Application& application, const decision::PolicyInForce& policy) const {
    RAMPART_RETURN_IF_ERROR(domain::validate(application));
    Candidate candidate;
    candidate.application = &application;
    const PartitionId home = partition_of(application.id);
    candidate.partition = owned(home);
    if (candidate.partition == nullptr) return not_owner(home);
    const OwnedPartition& partition = *candidate.partition;
    RAMPART_TRY(auto stored, look_up(partition, domain::decision_id_of(application.id)));
    if (stored) {
        RAMPART_RETURN_IF_ERROR(check_same(application, *stored));
        candidate.decision = *std::move(stored);
        candidate.stored = true;
        return candidate;
    }
    if (const auto status = partition.status(); !status && !partition.is_behind()) {
        return refusal(partition, status.error());
    }
    const base::TimePoint now = deps_.clock.now();
    RAMPART_RETURN_IF_ERROR(check_event_time(application, now, event_window()));
    RAMPART_TRY(candidate.row, decision::encode_row(application, policy.policy().schema()));
    if (policy.policy().group_aware()) {
        RAMPART_TRY(candidate.group, options_.group_lookup(application.person));
    }
    RAMPART_TRY(const uint64_t explored, partition.index().explored_on(base::day_of(now)));
    candidate.explore_allowed = explored < partition.exploration_per_day();
    RAMPART_TRY(candidate.decision,
                decision::decide(policy, application, candidate.row, candidate.group,
                                 options_.draw_key, candidate.explore_allowed, now));
    if (wire::encode(candidate.decision).size() + kRecordMargin > limits::kMaxRecordBytes) {
        return base::make_error(domain::Reason::kApplicationTooLarge,
                                "application '{}' does not fit into a record of {} bytes",
                                application.id, limits::kMaxRecordBytes);
    }
    return candidate;
}

/// Decides the batch; an error means that there was no trying.
Status DecisionService::run(Batch& batch, std::span<const Application> applications) {
    const auto start = std::chrono::steady_clock::now();
    RAMPART_RETURN_IF_ERROR(check_batch("applications", applications.size()));
    size_t bytes = 0;
    for (const auto& application : applications) bytes += bytes_of(application);
    const auto place = admission_.enter(applications.size(), bytes);
    if (!place) {
        instruments_->overloaded.add();
        return place.error();
    }
    batch.policy = policy();
    if (batch.policy == nullptr) {
        return base::make_error(Reason::kNoPolicy, "no policy is in force yet; retry later");
    }
    batch.candidates.reserve(applications.size());
    for (const auto& application : applications) {
        auto candidate = prepare(application, *batch.policy);
        if (candidate) {
            batch.candidates.push_back(*std::move(candidate));
            continue;
        }
        if (batch.whole) {
            return at("applications", batch.candidates.size(), applications.size(),
                      unless_rebuilding(partition_of(application.id), candidate.error()));
        }
        batch.candidates.emplace_back().error =
            unless_rebuilding(partition_of(application.id), candidate.error());
    }
    wait_for_turn(batch);
    for (auto& candidate : batch.candidates) {
        if (!candidate.error || candidate.partition == nullptr) continue;
        candidate.error = unless_rebuilding(candidate.partition->id(), *candidate.error);
    }
    instruments_->decide_seconds.observe(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return base::ok();
}

Result<std::vector<Decision>> DecisionService::decide(std::span<const Application> applications) {
    Batch batch;
    RAMPART_RETURN_IF_ERROR(run(batch, applications));
    if (batch.first_error() != nullptr) return batch.error();
    std::vector<Decision> decisions;
    decisions.reserve(batch.candidates.size());
    for (auto& candidate : batch.candidates) {
        count(candidate.decision, batch.policy->policy());
        decisions.push_back(std::move(candidate.decision));
    }
    return decisions;
}

Result<std::vector<Result<Decision>>> DecisionService::decide_each(
    std::span<const Application> applications) {
    Batch batch;
    batch.whole = false;
    RAMPART_RETURN_IF_ERROR(run(batch, applications));
    std::vector<Result<Decision>> results;
    results.reserve(batch.candidates.size());
    for (auto& candidate : batch.candidates) {
        if (candidate.error) {
            results.emplace_back(*std::move(candidate.error));
            continue;
        }
        count(candidate.decision, batch.policy->policy());
        results.emplace_back(std::move(candidate.decision));
    }
    return results;
}

void DecisionService::count(const Decision& decision, const model::Policy& policy) {
    const bool approved = decision.action == domain::Action::kApprove;
    auto& counter = !approved           ? instruments_->declined
                    : decision.explored ? instruments_->explored
                                        : instruments_->approved;
    counter.add();
    for (const size_t i : decision::unseen_categories(decision.application, policy.schema())) {
        const auto& name = policy.schema().features()[i].name;
        deps_.metrics
            .counter("rampart_unseen_categories_total",
                     "Categories that the policy does not know, in decisions answered, repeats "
                     "included: counted as missing.",
                     {{"feature", i < kNamedFeatures ? name : "others"}})
            .add();
    }
}

std::vector<std::string> DecisionService::unseen_categories(const Application& application) const {
    std::vector<std::string> names;
    const auto in_force = policy();
    if (in_force == nullptr) return names;
    const auto& schema = in_force->policy().schema();
    for (const size_t i : decision::unseen_categories(application, schema)) {
        names.push_back(schema.features()[i].name);
    }
    return names;
}

void DecisionService::tend() {
    Batch batch;
    batch.job = [this] {
        for (const auto& partition : partitions_) {
            if (partition && partition->is_behind()) static_cast<void>(partition->catch_up());
        }
    };
    wait_for_turn(batch);
}

void DecisionService::give_up(PartitionId partition, const std::string& to) {
    OwnedPartition* found = owned(partition);
    if (found != nullptr && found->give_up(to)) instruments_->fenced.add();
}

Result<std::vector<AcceptedGap>> DecisionService::accept_gap(PartitionId which) {
    const bool all = which == PartitionId(-1);
    if (!all && owned(which) == nullptr) return not_owner(which);
    Result<std::vector<AcceptedGap>> accepted = std::vector<AcceptedGap>();
    Batch batch;
    batch.job = [&] {
        for (const auto& partition : partitions_) {
            if (!partition || (!all && partition->id() != which)) continue;
            auto gap = accept_gap_of(*partition, which);
            if (!gap) {
                accepted = gap.error();
                return;
            }
            if (*gap) accepted->push_back(**std::move(gap));
        }
    };
    wait_for_turn(batch);
    return accepted;
}

Result<std::optional<AcceptedGap>> DecisionService::accept_gap_of(OwnedPartition& partition,
                                                                  PartitionId which) {
    if (partition.given_up()) return not_owner(partition.id());
    RAMPART_TRY(const int32_t count, deps_.reader.partitions(options_.decisions_topic));
    RAMPART_TRY(auto gap, partition.index().accept_gap(options_.decisions_topic, which));
    partitions_added_ = count > options_.partitions;
    const Status caught_up = partition.catch_up();
    if (caught_up && partition.epoch() == 0) RAMPART_RETURN_IF_ERROR(take(partition));
    // what is a gap in this partition yet is in its status, to be accepted next
    if (!caught_up && !is_gap(caught_up.error()) && !partition.is_rebuilding()) {
        return caught_up.error();
    }
    return gap;
}

std::vector<DecisionService::PartitionView> DecisionService::partitions() const {
    std::vector<PartitionView> views;
    for (const auto& partition : partitions_) {
        if (!partition) continue;
        const auto& index = partition->index();
        views.push_back({partition->id(), partition->epoch(), partition->status(), index.fence(),
                         index.counts()});
    }
    return views;
}

Result<Decision> DecisionService::find(const domain::DecisionId& id) const {
    RAMPART_RETURN_IF_ERROR(domain::check_id("decision_id", id.value()));
    const PartitionId home = streaming::partition_of(id.value(), options_.partitions);
    const OwnedPartition* partition = owned(home);
    if (partition == nullptr) return not_owner(home);
    RAMPART_TRY(auto decision, look_up(*partition, id));
    if (decision) return *std::move(decision);
    // it may be in the part of the log that was not read
    if (const auto status = partition->status(); !status) {
        return refusal(*partition, status.error());
    }
    return base::make_error(Reason::kUnknownDecision, "there is no decision '{}'", id);
}

Result<std::vector<size_t>> DecisionService::submit_outcomes(
    std::span<const domain::Outcome> outcomes) {
    RAMPART_RETURN_IF_ERROR(check_batch("outcomes", outcomes.size()));
    std::vector<streaming::Record> records;
    records.reserve(outcomes.size());
    for (const auto& outcome : outcomes) {
        auto status = domain::check_outcome(options_.product, outcome);
        if (status) {
            const auto known = find(outcome.decision);
            status = known ? check_observed_at(outcome, *known, deps_.clock.now(), event_window())
                           : Status(known.error());
        }
        if (!status) return at("outcomes", records.size(), outcomes.size(), status.error());
        records.push_back(wire::to_record(outcome));
    }
    RAMPART_RETURN_IF_ERROR(deps_.writer.append(options_.outcomes_topic, records));
    instruments_->outcomes.add(outcomes.size());
    return contradicting(outcomes);
}

/// Which of those that were just taken in contradict one before.
std::vector<size_t> DecisionService::contradicting(std::span<const domain::Outcome> outcomes) {
    std::vector<size_t> found;
    for (size_t i = 0; i < outcomes.size(); ++i) {
        bool other = recent_outcomes_.add(outcomes[i]);
        if (!other && options_.contradicts) {
            // the outcome is durable in any case: what cannot be looked up is not said
            other = options_.contradicts(outcomes[i]).value_or(false);
        }
        if (other) found.push_back(i);
    }
    return found;
}

Status DecisionService::submit_overrides(std::span<const domain::Override> overrides) {
    RAMPART_RETURN_IF_ERROR(check_batch("overrides", overrides.size()));
    std::vector<streaming::Record> records;
    records.reserve(overrides.size());
    for (const auto& taken : overrides) {
        auto status = domain::validate(taken);
        if (status) {
            if (const auto known = find(taken.decision); !known) status = known.error();
        }
        if (!status) return at("overrides", records.size(), overrides.size(), status.error());
        records.push_back(wire::to_record(taken));
    }
    if (options_.on_overrides) RAMPART_RETURN_IF_ERROR(options_.on_overrides(overrides));
    RAMPART_RETURN_IF_ERROR(deps_.writer.append(options_.outcomes_topic, records));
    instruments_->overrides.add(overrides.size());
    return base::ok();
}

}  // namespace rampart::decision_service
