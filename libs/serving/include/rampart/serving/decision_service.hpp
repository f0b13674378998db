#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/result.hpp"
#include "rampart/dataset/served_schema.hpp"
#include "rampart/decision/arm.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/decision_log/decision_log.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/serving/admission.hpp"
#include "rampart/serving/event_window.hpp"
#include "rampart/serving/stops.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"

namespace rampart::serving {

/// The applicant's group as an index into the policy's group_names; nullopt: not known.
using GroupLookup = std::function<base::Result<std::optional<size_t>>(const domain::PersonId&)>;

struct DecisionServiceOptions {
    decision_log::DecisionLogOptions log;  // log of decisions, and what this node owns of it
    std::string outcomes_topic = "outcomes";
    /// Called with overrides that are about to be taken in, to keep a record of them; an error
    /// refuses them. Empty: only the log has them.
    std::function<base::Status(std::span<const domain::Override>)> on_overrides{};
    /// Called with the persons of decisions that are about to be appended, by several threads at a
    /// time while others append: to write what the append would have to wait for, as keys of new
    /// persons. Where it fails the append says why. Empty: nothing.
    std::function<void(std::span<const domain::PersonId>)> before_append{};
    /// Called with the ids of declines that were just decided, before they are answered, by several
    /// threads at a time; takes no time. Not of those that were decided before. Empty: nothing.
    std::function<void(std::span<const domain::DecisionId>)> on_declined{};
    domain::Product product;
    /// Which features are taken, and on what terms; plain: those of the policy in force.
    dataset::ServedSchema served{};
    decision::DrawKey draw_key;
    decision::ArmKey arm_key{};                       // empty: no challenger may decide here
    int cool_off_days = domain::kDefaultCoolOffDays;  // decision::CoolOff; the same on all nodes
    EventWindow event_window{};
    /// Whether the clock may be wrong, so that no event time is held against it. Empty: never.
    std::function<bool()> time_unknown{};
    GroupLookup group_lookup{};  // empty: group-blind; group-aware policies are refused

    // What may be under way at a time; more is refused as overload.
    size_t max_waiting_applications = 16 * base::limits::kMaxBatch;
    size_t max_waiting_bytes = 64u << 20;
};

/// What the service works with; all of it has to outlive the service. Health keeps the service's
/// checks for good, so it must not be probed after the service is gone.
struct DecisionServiceDeps {
    const streaming::Reader& reader;
    streaming::Writer& writer;
    const base::Clock& clock;
    runtime::Metrics& metrics;
    runtime::Health& health;
};

/// Decides applications, by the champion or by the policy of the person's arm, and takes in
/// outcomes, for the partitions that this node owns.
///
/// Lifecycle: open() opens the log of decisions (decision_log::DecisionLog); set_policy() makes it
/// ready. A decision is in the topic of decisions, durably, and has been read back as one that
/// counts, before decide() returns it; decisions of requests that arrive together are appended
/// together. The same application decided twice gives the decision that is stored, whatever
/// happened in between: crash, other policy, other exploration budget left. Another application of
/// the person within the cool-off's window is decided anew, with the same draw (decision/draw.hpp).
///
/// Exploration: once a day has had the explored approvals of a partition, what is decided later
/// that day in that partition is decided, and logged, with P = p_exploit. The day is that of the
/// service's clock at the decision (decided_at), not one that clients choose. What counts is the
/// order of the log.
///
/// A partition that the log of decisions refuses is refused here; the others go on. /readyz names
/// what stands still; it is 503 only while nothing at all can be decided here.
///
/// Thread safe.
class DecisionService {
  public:
    /// The topics have to exist. Errors: those of DecisionLog::open; domain::validate(product).
    static base::Result<std::unique_ptr<DecisionService>> open(DecisionServiceOptions options,
                                                               DecisionServiceDeps deps);
    ~DecisionService();

    /// Decides by this policy from the next request on; requests under way finish with the one that
    /// they began with. Never waits for a decision. Errors: failed_precondition
    /// "group_blind_service" (the policy reads a group, the service may not), "schema_not_carried"
    /// (its features are not the first ones of this service) and those of PolicyInForce::create.
    base::Status set_policy(std::shared_ptr<const model::LoadedPolicy> policy, bool certified);
    /// Decides nothing from the next request on ("no_policy"), until a policy is set again.
    void withdraw_policy();
    /// Returns the champion, also where a stop lets rules decide; nullptr: none yet.
    std::shared_ptr<const decision::PolicyInForce> policy() const;

    /// Lets what people have stopped stand still from the next request on, whatever champion or
    /// assignment comes, until it is called again; requests under way finish as they began. Never
    /// waits for a decision. A decision under a stop is logged with the policy and the probability
    /// by which it was made. Errors: failed_precondition "uncertified_policy" (the rules are
    /// learned), "group_blind_service"; those of PolicyInForce::create. Then nothing changes.
    base::Status set_stops(const Stops& stops);

    /// Lets each person be decided by the policy of their arm from the next request on, until
    /// end_assignment() or another champion. `challengers`: certified policies of the second arm
    /// and those behind it; the first is that of policy(). Decisions name their arm. Errors:
    /// domain::validate's; failed_precondition "other_arms" (policies are not those of the arms, or
    /// there is no key for arms), "group_blind_service"; those of PolicyInForce::create.
    base::Status set_assignment(
        const domain::Assignment& assignment,
        const std::vector<std::shared_ptr<const model::LoadedPolicy>>& challengers);
    /// Lets the champion alone decide.
    void end_assignment();
    /// Returns the id of the assignment by which is decided; empty: the champion alone decides.
    std::string assignment() const;

    /// 1 to limits::kMaxBatch applications, all decided by one policy or by the arms of one
    /// assignment, answered in their order, or none: an error names its application. already_exists
    /// "application_differs": decided before with other content; failed_precondition "not_owner":
    /// another node decides for its partition, "fenced": another node has just taken it over;
    /// out_of_range "event_time_outside": see EventWindow, not of what was decided before;
    /// unavailable "no_policy", "partition_stopped": after a gap in the log,
    /// "partition_rebuilding"; resource_exhausted "overloaded", or the log is full: nothing was
    /// decided; those of encode_row, decide and Writer. After any other error than the first and
    /// resource_exhausted the application may have been decided: ask again.
    /// `request_id` is kept with what is decided now.
    base::Result<std::vector<domain::Decision>> decide(
        std::span<const domain::Application> applications, const std::string& request_id = {});

    /// The same, but each has a result of its own, so that one that makes no sense keeps no other
    /// from being decided. The error is one of all of them: nothing was decided. `request_ids`: one
    /// for each, or none.
    base::Result<std::vector<base::Result<domain::Decision>>> decide_each(
        std::span<const domain::Application> applications,
        std::span<const std::string> request_ids = {});

    /// not_found "unknown_decision"; failed_precondition "not_owner"; unavailable
    /// "partition_rebuilding".
    base::Result<domain::Decision> find(const domain::DecisionId& id) const;

    /// The features of an application whose category the policy in force does not know.
    std::vector<std::string> unseen_categories(const domain::Application& application) const;

    /// 1 to limits::kMaxBatch outcomes, all durable when it returns, or none taken in. not_found
    /// "unknown_decision"; those of domain::check_outcome and check_observed_at. Repeats are taken
    /// in again: the joiner recognises them, and puts those into quarantine that contradict an
    /// earlier one of the same decision, measure and revision. The answer does not say so: a caller
    /// could learn by guesses outcomes that only the gate may read.
    base::Status submit_outcomes(std::span<const domain::Outcome> outcomes);
    /// The same for what people did instead of what was drawn. Those of domain::validate.
    base::Status submit_overrides(std::span<const domain::Override> overrides);

    /// As DecisionLog::erase.
    base::Status erase(std::span<const domain::DecisionId> decisions, base::TimePoint now);
    /// The same for decisions whose records in the log can no longer be opened. Those that the
    /// index here does not have, or has as erased, are passed over: it reads of their erasure.
    base::Status erase_unreadable(std::span<const domain::DecisionId> decisions,
                                  base::TimePoint now);
    /// As DecisionLog::compact_erased.
    base::Status compact_erased() { return log_->compact_erased(); }

    /// As DecisionLog::maintain.
    void maintain() { log_->maintain(); }
    /// As DecisionLog::mend; puts down in the metrics how things are.
    bool mend();
    /// As DecisionLog::all_whole.
    base::Status all_whole() const { return log_->all_whole(); }
    /// This node has lost the partition: decides nothing for it from now on.
    void give_up(streaming::PartitionId partition, const std::string& to);
    /// As DecisionLog::accept_gap.
    base::Result<std::vector<decision_log::AcceptedGap>> accept_gap(
        streaming::PartitionId partition) {
        return log_->accept_gap(partition);
    }
    /// States of the owned partitions, ascending.
    std::vector<decision_log::PartitionView> partitions() const { return log_->partitions(); }

    /// Which partition decides for an application.
    streaming::PartitionId partition_of(const domain::ApplicationId& application) const;
    int32_t partition_count() const { return log_->partition_count(); }  // N
    /// Returns where clients reach the node that decides about the first of these that are not
    /// decided here; empty: all are, or this node does not know, or that node does not say.
    std::string owner_address(std::span<const domain::DecisionId> decisions) const;
    /// The index of an owned partition; nullptr: not owned, or given up. Lives as long as the
    /// service.
    decision_log::DecisionIndex* index_of(streaming::PartitionId partition);

  private:
    struct Candidate;
    struct Policies;
    class Batch;
    struct Instruments;
    DecisionService(DecisionServiceOptions options, DecisionServiceDeps deps);

    EventWindow event_window() const;
    base::Result<Candidate> prepare(const domain::Application& application,
                                    const Policies& policies, const std::string& request_id) const;
    base::Result<std::shared_ptr<const decision::PolicyInForce>> in_force(
        std::shared_ptr<const model::LoadedPolicy> policy, bool certified) const;
    std::shared_ptr<const Policies> policies() const;
    void swap(Policies next);
    base::Status run(Batch& batch, std::span<const domain::Application> applications,
                     std::span<const std::string> request_ids);
    void report_declined(const Batch& batch) const;
    base::Status ready() const;
    std::vector<size_t> unseen_by(const model::Policy& policy,
                                  const domain::Application& application) const;
    void count(const domain::Decision& decision, const model::Policy& policy);

    const DecisionServiceOptions options_;  // but for `log`, which the log has
    const decision::CoolOff cool_off_;
    const DecisionServiceDeps deps_;
    const std::unique_ptr<Instruments> instruments_;
    std::unique_ptr<decision_log::DecisionLog> log_;
    uint64_t set_aside_ = 0;  // indices, as counted by mend()
    Admission admission_;

    mutable std::mutex policy_mutex_;  // held to copy a pointer, no longer
    std::shared_ptr<const Policies> policies_;
    Stops stops_;
    std::shared_ptr<const decision::PolicyInForce> rules_;  // those of stops_
};

}  // namespace rampart::serving
