#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/http/router.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"
#include "services/decision_service/decision_index.hpp"

namespace rampart::decision_service {

/// The applicant's group as an index into the policy's group_names; nullopt: not known.
using GroupLookup = std::function<base::Result<std::optional<size_t>>(const domain::PersonId&)>;

struct DecisionServiceOptions {
    std::filesystem::path index_path;  // a database of its own
    std::string decisions_topic = "decisions";
    std::string outcomes_topic = "outcomes";
    domain::Product product;
    decision::DrawKey draw_key;
    uint64_t exploration_per_day = 0;  // explored approvals per UTC day of event time
    GroupLookup group_lookup;          // empty: group-blind; group-aware policies are refused
};

/// What the service works with; all of it has to outlive the service. Health keeps the service's
/// checks for good, so it must not be probed after the service is gone.
struct DecisionServiceDeps {
    streaming::Reader& reader;
    streaming::Writer& writer;
    const base::Clock& clock;
    runtime::Metrics& metrics;
    runtime::Health& health;
};

/// Decides applications, one policy at a time, and takes in outcomes.
///
/// Lifecycle: open() catches up with the log; set_policy() makes it ready. A decision is in the
/// topic of decisions, durably, before decide() returns it; decisions of requests that arrive
/// together are appended together. The same application decided twice gives the decision that is
/// stored, whatever happened in between: crash, other policy, other exploration budget left.
///
/// Exploration: once a day of event time has had its explored approvals, the rest of that day's
/// applications are decided, and logged, with P = p_exploit. What counts is the order of the log.
///
/// Thread safe.
class DecisionService {
  public:
    /// The topics have to exist. Errors: those of DecisionIndex::open; domain::validate(product).
    static base::Result<std::unique_ptr<DecisionService>> open(DecisionServiceOptions options,
                                                               DecisionServiceDeps deps);
    ~DecisionService();

    /// Decides by this policy from the next request on; requests under way finish with the one that
    /// they began with. Never waits for a decision. Errors: failed_precondition
    /// "group_blind_service" (the policy reads a group, the service may not) and those of
    /// PolicyInForce::create.
    base::Status set_policy(std::shared_ptr<const model::LoadedPolicy> policy, bool certified);
    /// nullptr: none yet.
    std::shared_ptr<const decision::PolicyInForce> policy() const;

    /// 1 to limits::kMaxBatch applications, all decided by one policy, answered in their order, or
    /// none: an error names its application. already_exists "application_differs": decided before
    /// with other content; unavailable "no_policy"; resource_exhausted: the log is full, nothing
    /// was decided; those of encode_row and decide.
    base::Result<std::vector<domain::Decision>> decide(
        std::span<const domain::Application> applications);

    /// not_found "unknown_decision".
    base::Result<domain::Decision> find(const domain::DecisionId& id) const;

    /// 1 to limits::kMaxBatch outcomes, all durable when it returns, or none taken in. not_found
    /// "unknown_decision"; those of domain::check_outcome. Repeats are taken in again: whoever
    /// joins them tells them apart.
    base::Status submit_outcomes(std::span<const domain::Outcome> outcomes);

    /// Adds POST /v1/decisions, GET /v1/decisions/{id}, POST /v1/outcomes (with the token),
    /// GET /v1/policy, /healthz, /readyz and /metrics (open). As in schemas/http/openapi.yaml. The
    /// service has to outlive the router.
    void add_routes(http::Router& router);

  private:
    struct Candidate;
    struct Batch;
    struct Instruments;
    struct Additions;
    DecisionService(DecisionServiceOptions options, DecisionServiceDeps deps,
                    std::unique_ptr<DecisionIndex> index);

    base::Result<Candidate> prepare(const domain::Application& application,
                                    const decision::PolicyInForce& policy) const;
    base::Result<std::vector<domain::Decision>> wait_for_turn(Batch& batch);
    std::vector<Batch*> take_queued();
    void commit(std::span<Batch* const> requests);
    base::Status resolve(Batch& batch, Additions& additions) const;
    base::Result<const domain::Decision*> settle(Candidate& candidate, const Batch& batch,
                                                 Additions& own, const Additions& before) const;
    base::Status append(const Additions& additions);
    base::Status ready() const;
    void count(std::span<const domain::Decision> decisions);

    DecisionServiceOptions options_;
    DecisionServiceDeps deps_;
    std::unique_ptr<DecisionIndex> index_;
    std::unique_ptr<Instruments> instruments_;

    mutable std::mutex policy_mutex_;  // held to copy a pointer, no longer
    std::shared_ptr<const decision::PolicyInForce> policy_;

    // One request at a time commits for all that are queued.
    mutable std::mutex queue_mutex_;
    std::condition_variable turn_;
    std::deque<Batch*> queue_;
    bool committing_ = false;
    bool index_behind_ =
        false;  // an append or the index failed: read the log before deciding again
};

}  // namespace rampart::decision_service
