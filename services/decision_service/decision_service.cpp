#include "services/decision_service/decision_service.hpp"

#include <algorithm>
#include <chrono>
#include <map>

#include "rampart/base/limits.hpp"
#include "rampart/base/log.hpp"
#include "rampart/decision/encode.hpp"
#include "rampart/wire/event_codec.hpp"

namespace rampart::decision_service {

using base::Result;
using base::Status;
using domain::Application;
using domain::Decision;
namespace limits = base::limits;

namespace {

constexpr base::Logger kLog("decision_service");
// A decision grows a little when it is decided again without exploration.
constexpr size_t kRecordMargin = 4096;
// Of one append; below what any log takes at once.
constexpr size_t kMaxAppendBytes = 16u << 20;

/// The order of features does not make another application.
bool same_content(const Application& a, const Application& b) {
    const auto sorted = [](const Application& application) {
        auto features = application.features;
        std::sort(features.begin(), features.end(),
                  [](const auto& x, const auto& y) { return x.name < y.name; });
        return features;
    };
    return a.id == b.id && a.person == b.person && a.event_time == b.event_time &&
           (a.features == b.features || sorted(a) == sorted(b));
}

Status check_same(const Application& application, const Decision& stored) {
    if (same_content(application, stored.application)) return base::ok();
    return base::already_exists(
        "application_differs",
        "application '{}' was decided before with other content; give a new "
        "application an id of its own",
        application.id);
}

Status check_batch(std::string_view what, size_t size) {
    if (size >= 1 && size <= limits::kMaxBatch) return base::ok();
    return base::out_of_range("bad_batch", "{} {}; 1 to {} are allowed", size, what,
                              limits::kMaxBatch);
}

/// In a batch, the error says which.
base::Error at(std::string_view what, size_t i, size_t size, const base::Error& error) {
    return size == 1 ? error : error.with_context(fmt::format("{}[{}]", what, i));
}

}  // namespace

struct DecisionService::Instruments {
    explicit Instruments(runtime::Metrics& metrics)
        : approved(decisions(metrics, "approve", "no")),
          explored(decisions(metrics, "approve", "yes")),
          declined(decisions(metrics, "decline", "no")),
          outcomes(metrics.counter("rampart_outcomes_total", "Outcomes taken in.")),
          swaps(metrics.counter("rampart_policy_swaps_total", "Policies put in force.")),
          decide_seconds(metrics.histogram("rampart_decide_seconds",
                                           "Time of a request for decisions, until durable.",
                                           runtime::latency_bounds())) {}

    static runtime::Counter& decisions(runtime::Metrics& metrics, std::string_view action,
                                       std::string_view explored) {
        return metrics.counter(
            "rampart_decisions_total", "Decisions answered, repeats included.",
            {{"action", std::string(action)}, {"explored", std::string(explored)}});
    }

    runtime::Counter &approved, &explored, &declined, &outcomes, &swaps;
    runtime::Histogram& decide_seconds;
};

/// One application on its way: either decided before, or decided now as things stood.
struct DecisionService::Candidate {
    const Application* application = nullptr;
    std::vector<float> row;
    std::optional<size_t> group;
    bool explore_allowed = false;
    Decision decision;
    bool stored = false;  // `decision` is what the index has
};

struct DecisionService::Batch {
    std::shared_ptr<const decision::PolicyInForce> policy;
    std::vector<Candidate> candidates;
    Result<std::vector<Decision>> result = std::vector<Decision>();
    bool done = false;
};

/// Decisions that are going to be appended, in order, and what they add to each day's exploration.
struct DecisionService::Additions {
    std::vector<Decision> decisions;
    std::map<domain::DecisionId, size_t> by_id;  // -> position in decisions
    std::map<int64_t, uint64_t> explored;

    const Decision* find(const domain::DecisionId& id) const {
        const auto it = by_id.find(id);
        return it == by_id.end() ? nullptr : &decisions[it->second];
    }
    uint64_t explored_on(int64_t day) const {
        const auto it = explored.find(day);
        return it == explored.end() ? 0 : it->second;
    }
    void add(Decision decision) {
        if (decision.explored) ++explored[base::day_of(decision.application.event_time)];
        by_id.emplace(decision.id, decisions.size());
        decisions.push_back(std::move(decision));
    }
};

DecisionService::DecisionService(DecisionServiceOptions options, DecisionServiceDeps deps,
                                 std::unique_ptr<DecisionIndex> index)
    : options_(std::move(options)),
      deps_(deps),
      index_(std::move(index)),
      instruments_(std::make_unique<Instruments>(deps.metrics)) {}

DecisionService::~DecisionService() = default;

Result<std::unique_ptr<DecisionService>> DecisionService::open(DecisionServiceOptions options,
                                                               DecisionServiceDeps deps) {
    RAMPART_RETURN_IF_ERROR(domain::validate(options.product));
    RAMPART_RETURN_IF_ERROR(deps.reader.partitions(options.outcomes_topic));
    RAMPART_TRY(auto index,
                DecisionIndex::open(options.index_path, deps.reader, options.decisions_topic));
    std::unique_ptr<DecisionService> service(
        new DecisionService(std::move(options), deps, std::move(index)));
    deps.health.add(runtime::Probe::kReady, "decision_service",
                    [raw = service.get()] { return raw->ready(); });
    return service;
}

Status DecisionService::set_policy(std::shared_ptr<const model::LoadedPolicy> loaded,
                                   bool certified) {
    if (loaded->policy.group_aware() && !options_.group_lookup) {
        return base::failed_precondition(
            "group_blind_service",
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
    if (policy() == nullptr) return base::unavailable("no_policy", "no policy is in force yet");
    const std::lock_guard lock(queue_mutex_);
    if (index_behind_) return base::unavailable("index_behind", "the log or the index failed");
    return base::ok();
}

Result<DecisionService::Candidate> DecisionService::prepare(
    const Application& application, const decision::PolicyInForce& policy) const {
    RAMPART_RETURN_IF_ERROR(domain::validate(application));
    Candidate candidate;
    candidate.application = &application;
    RAMPART_TRY(auto stored, index_->find(domain::decision_id_of(application.id)));
    if (stored) {
        RAMPART_RETURN_IF_ERROR(check_same(application, *stored));
        candidate.decision = *std::move(stored);
        candidate.stored = true;
        return candidate;
    }
    RAMPART_TRY(candidate.row, decision::encode_row(application, policy.policy().schema()));
    if (policy.policy().group_aware()) {
        RAMPART_TRY(candidate.group, options_.group_lookup(application.person));
    }
    RAMPART_TRY(const uint64_t explored, index_->explored_on(base::day_of(application.event_time)));
    candidate.explore_allowed = explored < options_.exploration_per_day;
    RAMPART_TRY(candidate.decision,
                decision::decide(policy, application, candidate.row, candidate.group,
                                 options_.draw_key, candidate.explore_allowed, deps_.clock.now()));
    if (wire::encode(candidate.decision).size() + kRecordMargin > limits::kMaxRecordBytes) {
        return base::out_of_range("application_too_large",
                                  "application '{}' does not fit into a record of {} bytes",
                                  application.id, limits::kMaxRecordBytes);
    }
    return candidate;
}

Result<std::vector<Decision>> DecisionService::decide(std::span<const Application> applications) {
    const auto start = std::chrono::steady_clock::now();
    RAMPART_RETURN_IF_ERROR(check_batch("applications", applications.size()));
    Batch batch;
    batch.policy = policy();
    if (batch.policy == nullptr) {
        return base::unavailable("no_policy", "no policy is in force yet; retry later");
    }
    batch.candidates.reserve(applications.size());
    for (const auto& application : applications) {
        auto candidate = prepare(application, *batch.policy);
        if (!candidate) {
            return at("applications", batch.candidates.size(), applications.size(),
                      candidate.error());
        }
        batch.candidates.push_back(*std::move(candidate));
    }
    auto decisions = wait_for_turn(batch);
    if (decisions) count(*decisions);
    instruments_->decide_seconds.observe(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return decisions;
}

/// Queues the batch. Whoever finds nobody committing commits for everybody queued, so that many
/// batches share one write to the disk.
Result<std::vector<Decision>> DecisionService::wait_for_turn(Batch& batch) {
    std::unique_lock lock(queue_mutex_);
    queue_.push_back(&batch);
    turn_.wait(lock, [&] { return batch.done || !committing_; });
    while (!batch.done) {
        const auto batches = take_queued();
        committing_ = true;
        lock.unlock();
        commit(batches);
        lock.lock();
        committing_ = false;
        for (Batch* one : batches) one->done = true;
        turn_.notify_all();
    }
    return std::move(batch.result);
}

std::vector<DecisionService::Batch*> DecisionService::take_queued() {
    // An upper estimate is enough: batches are far smaller than the limit.
    constexpr size_t kMaxTogether = 4 * limits::kMaxBatch;
    std::vector<Batch*> batches;
    size_t candidates = 0;
    while (!queue_.empty()) {
        candidates += queue_.front()->candidates.size();
        if (!batches.empty() && candidates > kMaxTogether) break;
        batches.push_back(queue_.front());
        queue_.pop_front();
    }
    return batches;
}

void DecisionService::commit(std::span<Batch* const> batches) {
    Additions additions;
    Status status;
    if (index_behind_) status = index_->catch_up();
    if (status) {
        for (Batch* batch : batches) {
            if (auto resolved = resolve(*batch, additions); !resolved) {
                batch->result = resolved.error();
            }
        }
        status = append(additions);
    }
    const std::lock_guard lock(queue_mutex_);
    if (!status) {
        index_behind_ = true;
        for (Batch* batch : batches) batch->result = status.error();
    } else {
        index_behind_ = false;
    }
}

/// Puts the request's decisions into its result and the new ones among them into `additions`;
/// nothing at all on an error.
Status DecisionService::resolve(Batch& batch, Additions& additions) const {
    Additions own;
    std::vector<Decision> decisions;
    decisions.reserve(batch.candidates.size());
    for (auto& candidate : batch.candidates) {
        const auto decision = settle(candidate, batch, own, additions);
        if (!decision) {
            return at("applications", decisions.size(), batch.candidates.size(), decision.error());
        }
        decisions.push_back(**decision);
    }
    for (auto& decision : own.decisions) additions.add(std::move(decision));
    batch.result = std::move(decisions);
    return base::ok();
}

Result<const Decision*> DecisionService::settle(Candidate& candidate, const Batch& batch,
                                                Additions& own, const Additions& before) const {
    if (candidate.stored) return &candidate.decision;
    const Application& application = *candidate.application;
    const auto& id = candidate.decision.id;
    // somebody else may have decided it since prepare(): in the index, in this group, in this
    // request
    for (const Additions* additions : {static_cast<const Additions*>(&own), &before}) {
        if (const Decision* twin = additions->find(id)) {
            RAMPART_RETURN_IF_ERROR(check_same(application, *twin));
            return twin;
        }
    }
    RAMPART_TRY(auto stored, index_->find(id));
    if (stored) {
        RAMPART_RETURN_IF_ERROR(check_same(application, *stored));
        candidate.decision = *std::move(stored);
        return &candidate.decision;
    }
    const int64_t day = base::day_of(application.event_time);
    RAMPART_TRY(uint64_t explored, index_->explored_on(day));
    explored += own.explored_on(day) + before.explored_on(day);
    const bool allowed = explored < options_.exploration_per_day;
    if (allowed != candidate.explore_allowed) {
        RAMPART_TRY(candidate.decision,
                    decision::decide(*batch.policy, application, candidate.row, candidate.group,
                                     options_.draw_key, allowed, candidate.decision.decided_at));
    }
    own.add(candidate.decision);
    return &candidate.decision;
}

Status DecisionService::append(const Additions& additions) {
    if (additions.decisions.empty()) return base::ok();
    std::vector<streaming::Record> records;
    records.reserve(additions.decisions.size());
    for (const auto& decision : additions.decisions) {
        records.push_back({decision.id.value(),
                           wire::encode(decision),
                           decision.application.event_time,
                           {{"schema", std::string(wire::kDecisionSchema)}}});
    }
    RAMPART_TRY(const auto positions, deps_.writer.append(options_.decisions_topic, records));
    std::vector<streaming::StoredRecord> stored;
    stored.reserve(records.size());
    for (size_t i = 0; i < records.size(); ++i) {
        stored.push_back({positions[i].partition, positions[i].offset, std::move(records[i])});
    }
    return index_->apply(stored);
}

void DecisionService::count(std::span<const Decision> decisions) {
    for (const auto& decision : decisions) {
        const bool approved = decision.action == domain::Action::kApprove;
        auto& counter = !approved           ? instruments_->declined
                        : decision.explored ? instruments_->explored
                                            : instruments_->approved;
        counter.add();
    }
}

Result<Decision> DecisionService::find(const domain::DecisionId& id) const {
    RAMPART_RETURN_IF_ERROR(domain::check_id("decision_id", id.value()));
    RAMPART_TRY(auto decision, index_->find(id));
    if (!decision) {
        return base::not_found("unknown_decision", "there is no decision '{}'", id);
    }
    return *std::move(decision);
}

Status DecisionService::submit_outcomes(std::span<const domain::Outcome> outcomes) {
    RAMPART_RETURN_IF_ERROR(check_batch("outcomes", outcomes.size()));
    std::vector<streaming::Record> records;
    records.reserve(outcomes.size());
    for (const auto& outcome : outcomes) {
        auto status = domain::check_outcome(options_.product, outcome);
        if (status) {
            if (const auto known = find(outcome.decision); !known) status = known.error();
        }
        if (!status) return at("outcomes", records.size(), outcomes.size(), status.error());
        records.push_back({outcome.decision.value(),
                           wire::encode(outcome),
                           outcome.observed_at,
                           {{"schema", std::string(wire::kOutcomeSchema)}}});
    }
    RAMPART_RETURN_IF_ERROR(deps_.writer.append(options_.outcomes_topic, records));
    instruments_->outcomes.add(outcomes.size());
    return base::ok();
}

}  // namespace rampart::decision_service
