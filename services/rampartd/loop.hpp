#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rampart/base/thread_pool.hpp"
#include "rampart/champion_monitor/champion_monitor.hpp"
#include "rampart/champion_monitor/monitor_report.hpp"
#include "rampart/data_retention/erasure.hpp"
#include "rampart/data_retention/person_record.hpp"
#include "rampart/protected_attributes/attribute_feed.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/serving/decision_service.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "services/rampartd/champion_switch.hpp"
#include "services/rampartd/node_clock.hpp"
#include "services/rampartd/stop_buttons.hpp"
#include "services/rampartd/store_report.hpp"
#include "services/rampartd/stores.hpp"

namespace rampart::rampartd {

/// A log to export, and for the audit log who asks and why.
struct ExportRequest {
    std::string candidate, reference;     // ids of registered models; both empty: no pair
    std::optional<base::TimePoint> at{};  // as known then; nullopt: as known now
    bool vault = false;                   // with the vault's outcomes
    std::string actor, reason;            // reason: of an export of the vault
};

/// Whose record is to be exported, by the person's id or that of an application, and for the audit
/// log who asks and, if said, why.
struct PersonAsked {
    domain::PersonId person;
    domain::ApplicationId application;  // one of the two is empty
    std::string actor, reason;
};

/// What a node does with its log as time goes on: reads, joins, matures, trains, tests, watches and
/// erases. Thread safe.
///
/// By the wall clock, join() and learn() are jobs of their own: what was known at a time does not
/// change once the joiner's clock is past it, so that a run of hours and the joiner do not wait for
/// each other. By event time, advance() does all of it in turn.
///
/// Locks, in this order: learning_ (trainer), erasing_, counting_ (an erasure against the gate's
/// counts), reading_ (log into joined state). Deciding, rollback and reports take none of them.
class Loop {
  public:
    /// All of it has to outlive the loop.
    struct Deps {
        const Settings& settings;
        const Keys& keys;
        Stores& stores;
        NodeClock& clock;
        serving::DecisionService& decisions;
        serving::ApplicationConsumer& applications;
        protected_attributes::AttributeFeed* attributes;  // nullptr: no other nodes
        ChampionSwitch& champion;
        StopButtons& stops;
        runtime::Metrics& metrics;
        lease::TrainerLease* lease;  // nullptr: no other node may train, or this one does not
    };
    static base::Result<std::unique_ptr<Loop>> open(Deps deps);

    /// As Node::advance, Node::certify, Node::propose, Node::export_log, Node::monitor_report,
    /// Node::store_report, Node::rollback, Node::erase, Node::export_person, Node::person_behind,
    /// Node::joined_of, Node::state_hash.
    /// follow(): lets the champion decide, ends proposals that have expired, says when the
    /// champion's certificate expires, and publishes the champion again if its topic has lost it.
    base::Status advance(base::TimePoint now);
    base::Status join(const std::function<bool()>& stopping);
    base::Status learn(const std::function<bool()>& stopping);
    base::Status follow();
    base::Result<retraining::RunRecord> certify(const domain::PolicyId& candidate,
                                                base::TimePoint t, const std::string& new_epoch,
                                                const std::string& proposed_by);
    base::Result<retraining::Proposed> propose(const retraining::ProposalRequest& request);
    base::Result<retraining::ExportedLog> export_log(const ExportRequest& request);
    base::Result<std::string> monitor_report();
    base::Result<std::string> store_report(const ReportRequest& request);
    base::Status rollback(std::string_view actor, std::string_view reason);
    /// As ModelRegistry::approve_proposal() and reject_proposal(), at the time of the clock; a
    /// policy that is approved decides when this returns. Errors also: check_trains()'s;
    /// failed_precondition "clock_jump". Waits for no training run.
    base::Result<registry::PromotionProposal> approve(uint64_t number, registry::Judgement by);
    base::Result<registry::PromotionProposal> reject(uint64_t number, registry::Judgement by);
    /// Lets challengers decide beside the champion, as ModelRegistry::start_assignment(); or, with
    /// training.on_certified = "propose", lets it wait for people, as propose_challenger(). `arms`:
    /// the champion's may be left out; it then has the rest of the shares. What starts decides here
    /// when this returns, and at other nodes once they have read of it. Errors also those of
    /// check_trains(); failed_precondition "clock_jump". Waits for no training run.
    using Started = std::variant<registry::AssignmentPeriod, registry::PromotionProposal>;
    base::Result<Started> start_assignment(domain::Assignment assignment, std::string_view actor,
                                           std::string_view reason);
    /// As ModelRegistry::end_assignment(). Errors also: check_trains()'s.
    base::Result<registry::AssignmentPeriod> end_assignment(const std::string& id,
                                                            std::string_view actor,
                                                            std::string_view reason);
    base::Result<data_retention::ErasureReport> erase(const domain::PersonId& person,
                                                      std::string_view actor,
                                                      std::string_view reason, bool dry_run);
    /// `keep` as in data_retention::ErasureDeps; the request's time is set here.
    using Keep = std::function<base::Status(const data_retention::ErasureReport&)>;
    base::Result<data_retention::ErasureReport> erase(data_retention::ErasureRequest request,
                                                      Keep keep);
    base::Result<data_retention::PersonRecord> export_person(const PersonAsked& asked);
    base::Result<domain::PersonId> person_behind(const domain::ApplicationId& application);
    base::Result<std::optional<joiner::JoinState>> joined_of(const domain::DecisionId& decision);
    base::Result<base::Digest> state_hash() const;
    /// Reads the log to its end. Errors while anything of it cannot be read.
    base::Status catch_up();

    /// How the last join() and learn(), or advance(), went.
    base::Status status() const;
    /// Leaves a run of training, now or later, where it can be continued.
    void request_stop() { stop_ = true; }
    /// Sources that could not be read the last time.
    std::vector<joiner::StoppedPartition> stopped() const;
    /// ok: this node trains. failed_precondition "trains_elsewhere"; on a shared log asks the log,
    /// errors: TrainerLease::confirm's.
    base::Status check_trains();
    /// Training runs; empty where another node trains.
    base::Result<std::vector<retraining::RunRecord>> runs() const;
    /// nullptr: training is off. Where it is on, another node may hold the lease.
    retraining::TrainingLoop* trainer() const { return trainer_.get(); }
    /// Puts down in the metrics how the joined states are.
    void count_upkeep();

  private:
    explicit Loop(Deps deps);
    base::Status open_trainer();
    base::Result<data_retention::ErasureDeps> person_deps();
    bool trains() const { return trainer_ && (deps_.lease == nullptr || deps_.lease->held()); }
    base::TimePoint known_until() const;
    base::Status read_to_end(const std::function<bool()>& stopping,
                             std::set<streaming::PartitionId>* waiting = nullptr);
    base::Status read_log(bool may_train);
    base::Status train_and_watch(base::TimePoint now);
    base::Status look(base::TimePoint t);
    base::Result<champion_monitor::CertificateEnd> certificate_end();
    base::Status move_proposals();
    base::Result<bool> switch_to(const registry::PromotionProposal& proposal, base::TimePoint now);
    void note(base::Status Loop::*part, const base::Status& status);

    const Deps deps_;
    const std::unique_ptr<base::ThreadPool> pool_;
    std::optional<training_set::TrainingSetBuilder> builder_;
    std::unique_ptr<retraining::TrainingLoop> trainer_;           // where it trains
    std::unique_ptr<champion_monitor::ChampionMonitor> monitor_;  // where it trains
    mutable std::mutex learning_;                                 // trainer and looks
    std::mutex erasing_;                                          // one erasure at a time
    std::shared_mutex counting_;
    mutable std::mutex reading_;
    std::function<bool()> stopping_;  // that of learn(); with learning_ held
    std::atomic<bool> stop_{false};
    uint64_t erased_ = 0;  // decisions, when the index last read what others had erased
    std::atomic<uint64_t> set_aside_{0};  // joined states, as counted by count_upkeep()

    mutable std::mutex status_mutex_;
    base::Status joined_, learned_;  // how the last of each went
    std::vector<joiner::StoppedPartition> stopped_;
};

}  // namespace rampart::rampartd
