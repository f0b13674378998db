#pragma once

#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/base/result.hpp"
#include "rampart/decision/decider.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"
#include "rampart/domain/override.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/http/router.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/streaming/reader.hpp"
#include "rampart/streaming/writer.hpp"
#include "services/decision_service/admission.hpp"
#include "services/decision_service/decision_index.hpp"
#include "services/decision_service/event_window.hpp"
#include "services/decision_service/owned_partition.hpp"
#include "services/decision_service/recent_outcomes.hpp"

namespace rampart::decision_service {

inline constexpr int32_t kMaxPartitions = 1024;

/// The applicant's group as an index into the policy's group_names; nullopt: not known.
using GroupLookup = std::function<base::Result<std::optional<size_t>>(const domain::PersonId&)>;

using Epochs = std::map<streaming::PartitionId, uint64_t>;

struct DecisionServiceOptions {
    std::filesystem::path partitions_folder;  // partition P has the database P/decisions
    std::string decisions_topic = "decisions";
    std::string outcomes_topic = "outcomes";
    int32_t partitions = 1;  // N, of the topic of decisions; 1 to kMaxPartitions
    /// Which of them this node decides for, each once; empty: all.
    std::vector<streaming::PartitionId> owned{};
    /// Where other nodes may write to the same log: called by open() once all is read, with the
    /// owned partitions and the epoch of each one's last fence; claims their leases and returns
    /// their epochs, each higher. Empty: this process alone writes to the log, and needs none.
    std::function<base::Result<Epochs>(const Epochs& fences)> claim{};
    std::string node = "node";  // how fences name this node
    /// Who owns a partition that this node does not, for the answer; nullopt: not known.
    std::function<std::optional<std::string>(streaming::PartitionId)> owner_of{};
    /// Called once for a partition that turns out to be another node's, by the thread that found
    /// out; must not call the service.
    std::function<void(streaming::PartitionId)> on_given_up{};
    /// Whether another report than this one is known of its decision, measure and revision, among
    /// those that were joined. Empty: nothing is joined here.
    std::function<base::Result<bool>(const domain::Outcome&)> contradicts{};
    /// Called with overrides that are about to be taken in, to keep a record of them; an error
    /// refuses them. Empty: only the log has them.
    std::function<base::Status(std::span<const domain::Override>)> on_overrides{};
    std::shared_ptr<storage::MemoryBudget>
        memory{};  // budget of the databases; null: a budget of their own
    std::shared_ptr<rocksdb::Env> environment{};  // theirs, as in storage::OpenOptions

    domain::Product product;
    decision::DrawKey draw_key;
    /// Explored approvals per UTC day of the service's clock, over all N partitions: see
    /// exploration_share().
    uint64_t exploration_per_day = 0;
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
    streaming::Reader& reader;
    streaming::Writer& writer;
    const base::Clock& clock;
    runtime::Metrics& metrics;
    runtime::Health& health;
};

/// Decides applications, one policy at a time, and takes in outcomes, for the partitions that this
/// node owns.
///
/// Lifecycle: open() catches up with the log, claims the partitions and fences off their previous
/// owners; set_policy() makes it ready. A decision is in the topic of decisions, durably, and has
/// been read back as one that counts, before decide() returns it; decisions of requests that arrive
/// together are appended together. The same application decided twice gives the decision that is
/// stored, whatever happened in between: crash, other policy, other exploration budget left. A
/// process that was asleep while another took its partition over can still append, but what it
/// appends counts nowhere, and it acknowledges nothing: it finds the other's fence before its own
/// record, and gives the partition up.
///
/// Exploration: once a day has had the explored approvals of a partition, what is decided later
/// that day in that partition is decided, and logged, with P = p_exploit. The day is that of the
/// service's clock at the decision (decided_at), not one that clients choose. What counts is the
/// order of the log.
///
/// A partition whose log or index fails refuses its applications, and is tried again with the next
/// one and by tend(); after a gap in the log it waits for accept_gap(). One whose index is damaged,
/// or far behind the log when it is opened, answers nothing until mend() has read the log to its
/// end. The others go on. /readyz
/// names what stands still; it is 503 only while nothing at all can be decided here.
///
/// Thread safe.
class DecisionService {
  public:
    /// The topics have to exist. Errors: those of DecisionIndex::open and catch_up, but for gaps,
    /// which stop their partition; those of options.claim; failed_precondition
    /// "partitions_changed": the topic of decisions has another number of partitions, "fenced":
    /// another node was faster; out_of_range "bad_partitions"; domain::validate(product).
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
    /// with other content; failed_precondition "not_owner": another node decides for its partition,
    /// "fenced": another node has just taken it over; out_of_range
    /// "event_time_outside": see EventWindow, not of what was decided before; unavailable
    /// "no_policy", "partition_stopped": after a gap in the log, "partition_rebuilding";
    /// resource_exhausted "overloaded", or the log is full: nothing was decided; those of
    /// encode_row, decide and Writer. After any other error than the first and resource_exhausted
    /// the application may have been decided: ask again.
    base::Result<std::vector<domain::Decision>> decide(
        std::span<const domain::Application> applications);

    /// The same, but each has a result of its own, so that one that makes no sense keeps no other
    /// from being decided. The error is one of all of them: nothing was decided.
    base::Result<std::vector<base::Result<domain::Decision>>> decide_each(
        std::span<const domain::Application> applications);

    /// not_found "unknown_decision"; failed_precondition "not_owner"; unavailable
    /// "partition_rebuilding".
    base::Result<domain::Decision> find(const domain::DecisionId& id) const;

    /// The features of an application whose category the policy in force does not know.
    std::vector<std::string> unseen_categories(const domain::Application& application) const;

    /// 1 to limits::kMaxBatch outcomes, all durable when it returns, or none taken in. not_found
    /// "unknown_decision"; those of domain::check_outcome and check_observed_at. Repeats are taken
    /// in again: the joiner recognises them. Returns which of them contradict an earlier one of
    /// the same decision, measure and revision, which stays: as far as it is known here, by what
    /// was joined and what this process took in of late.
    base::Result<std::vector<size_t>> submit_outcomes(std::span<const domain::Outcome> outcomes);
    /// The same for what people did instead of what was drawn. Those of domain::validate.
    base::Status submit_overrides(std::span<const domain::Override> overrides);

    /// Erases decisions of any partition: an erasure of each is in the log, durably, when it
    /// returns, and of those that are owned here nothing is left in the index nor in its files.
    /// With no decisions named, takes in what others have erased. Either way, what was on its way
    /// into the log when it was called is there when it returns. Whether they may be erased is not
    /// asked. An index that is not whole reads of it in the log later: see all_whole(). May be
    /// repeated. Errors: those of Writer, of the index's catch_up() and
    /// compact_erased().
    base::Status erase(std::span<const domain::DecisionId> decisions, base::TimePoint now);
    /// The same for decisions whose records in the log can no longer be opened. Those that the
    /// index here does not have, or has as erased, are passed over: it reads of their erasure.
    base::Status erase_unreadable(std::span<const domain::DecisionId> decisions,
                                  base::TimePoint now);
    /// When it returns, none of the indices' files has what was erased at any time, whatever was
    /// interrupted. Takes as long as reading and writing all that they hold.
    base::Status compact_erased();

    /// Tries again what failed, so that a service without requests becomes ready again. Call it
    /// every few seconds.
    void tend();

    /// A turn of reading the log for each index that is damaged, or not whole, between the commits
    /// of the others. true: there is more to do at once. Call it every second or so, and again
    /// while it says so; one thread at a time.
    bool mend();
    /// unavailable "partition_rebuilding": the index of an owned partition is not whole, so that
    /// what is erased now could be left in it.
    base::Status all_whole() const;

    /// This node has lost the partition: decides nothing for it from now on.
    void give_up(streaming::PartitionId partition, const std::string& to);

    /// Goes on after a gap in a partition of the decisions, from what the log has now, or, for
    /// partition -1, with the topic as it is now. For the operator, who knows what is lost. Empty:
    /// there was none. failed_precondition "not_owner"; those of DecisionIndex::accept_gap.
    base::Result<std::vector<AcceptedGap>> accept_gap(streaming::PartitionId partition);

    /// State of an owned partition; partitions() lists them in ascending order.
    struct PartitionView {
        streaming::PartitionId partition;
        uint64_t epoch = 0;
        base::Status status;  // ok: it decides
        Fence fence;
        IndexCounts counts;
    };
    std::vector<PartitionView> partitions() const;

    /// Which partition decides for an application.
    streaming::PartitionId partition_of(const domain::ApplicationId& application) const;
    int32_t partition_count() const { return options_.partitions; }  // N
    /// The index of an owned partition; nullptr: not owned, or given up. Lives as long as the
    /// service.
    DecisionIndex* index_of(streaming::PartitionId partition);

    /// Adds POST /v1/decisions, GET /v1/decisions/{id}, POST /v1/outcomes, POST /v1/overrides
    /// (with the token), GET /v1/policy, /healthz, /readyz and /metrics (open, and answered inline:
    /// none waits for a commit). As in schemas/http/openapi.yaml. The service has to outlive the
    /// router.
    void add_routes(http::Router& router);

  private:
    struct Candidate;
    struct Batch;
    struct Instruments;
    struct Additions;
    struct Landing;
    DecisionService(DecisionServiceOptions options, DecisionServiceDeps deps);

    base::Status open_partitions();
    base::Status claim_partitions();
    base::Status take(OwnedPartition& partition);
    base::Result<std::optional<AcceptedGap>> accept_gap_of(OwnedPartition& partition,
                                                           streaming::PartitionId which);
    OwnedPartition* owned(streaming::PartitionId partition) const;
    EventWindow event_window() const;
    base::Error not_owner(streaming::PartitionId partition) const;
    base::Error refusal(const OwnedPartition& partition, const base::Error& why) const;
    base::Error unless_rebuilding(streaming::PartitionId partition, const base::Error& why) const;
    base::Result<std::optional<domain::Decision>> look_up(const OwnedPartition& partition,
                                                          const domain::DecisionId& id) const;
    base::Result<Candidate> prepare(const domain::Application& application,
                                    const decision::PolicyInForce& policy) const;
    base::Status run(Batch& batch, std::span<const domain::Application> applications);
    void wait_for_turn(Batch& batch);
    std::vector<Batch*> take_queued();
    void commit(std::span<Batch* const> batches);
    void resolve(Batch& batch, Additions& additions) const;
    base::Status settle(Candidate& candidate, const Batch& batch, Additions& own,
                        const Additions& before) const;
    std::vector<base::Result<streaming::Position>> write(
        std::span<const streaming::Record> records);
    Landing append(const Additions& additions);
    void take_in(OwnedPartition& partition, std::span<const streaming::StoredRecord> records,
                 Landing& landing);
    static void finish(Batch& batch, const Landing& landing);
    base::Status ready() const;
    base::Status all_decide() const;
    void count(const domain::Decision& decision, const model::Policy& policy);
    std::vector<size_t> contradicting(std::span<const domain::Outcome> outcomes);

    DecisionServiceOptions options_;
    DecisionServiceDeps deps_;
    std::vector<std::unique_ptr<OwnedPartition>> partitions_;  // by number; null: not owned
    bool partitions_added_ = false;  // to the topic: a key's partition is not the decision's
    Epochs claimed_;
    std::unique_ptr<Instruments> instruments_;
    uint64_t set_aside_ = 0;  // indices, as counted by mend()
    Admission admission_;
    RecentOutcomes recent_outcomes_;

    mutable std::mutex policy_mutex_;  // held to copy a pointer, no longer
    std::shared_ptr<const decision::PolicyInForce> policy_;

    // One request at a time commits for all that are queued.
    std::mutex queue_mutex_;
    std::condition_variable turn_;
    std::deque<Batch*> queue_;
    bool committing_ = false;
};

}  // namespace rampart::decision_service
