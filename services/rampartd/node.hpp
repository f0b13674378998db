#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rampart/access/sessions.hpp"
#include "rampart/data_retention/log_retention.hpp"
#include "rampart/http/router.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/job_queue.hpp"
#include "rampart/runtime/jobs.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "rampart/serving/application_consumer.hpp"
#include "rampart/serving/decision_service.hpp"
#include "services/rampartd/champion_switch.hpp"
#include "services/rampartd/erased_bytes.hpp"
#include "services/rampartd/event_streams.hpp"
#include "services/rampartd/explanations.hpp"
#include "services/rampartd/keys.hpp"
#include "services/rampartd/loop.hpp"
#include "services/rampartd/node_clock.hpp"
#include "services/rampartd/node_metrics.hpp"
#include "services/rampartd/quarantine_upkeep.hpp"
#include "services/rampartd/review_desk.hpp"
#include "services/rampartd/scrub_job.hpp"
#include "services/rampartd/settings.hpp"
#include "services/rampartd/stop_buttons.hpp"
#include "services/rampartd/stores.hpp"

namespace rampart::rampartd {

class JobAnswers;

/// The whole loop in one process, without its network: log, joined state, models, decisions,
/// training; or, on a shared log, what of it the node's roles are (settings().log.roles).
///
/// open() takes the store's locks (one process at a time) and, on a shared log, the leases of the
/// partitions that this node owns, and that of the trainer where training is on and no other store
/// has it; makes keys, topics (of the embedded log) and the bootstrap
/// champion in a new store, and nothing of it stays if that fails; refuses a store whose keys are
/// not there or are others; and takes up what a crash interrupted at the next advance(). Of several
/// nodes on one log one trains; the others follow its champion. Thread safe.
class Node {
  public:
    /// Says what open() does: "reading partition 3 of 64 into the index of decisions".
    using Progress = std::function<void(const std::string&)>;
    /// `shutdown`, if given, ends the wait for another node's lease; it and `clocks` have to
    /// outlive the node. `progress`, if given, is called by this thread until open() returns.
    static base::Result<std::unique_ptr<Node>> open(Settings settings,
                                                    const runtime::Shutdown* shutdown = nullptr,
                                                    runtime::Clocks clocks = {},
                                                    const Progress& progress = {});

    /// Starts what the node does by itself, each as a job of its own: leases, upkeep, mending; by
    /// the wall clock also reading and maturing (join; read, where it joins nothing), following the
    /// champion, where it decides explaining declines (explain), and, where it trains, training,
    /// testing and watching (learn). By event time
    /// advance() does these, but explains nothing before it is asked. Takes up what was asked for
    /// and may take long (erasures, overrides, candidates). Once.
    void begin_work();
    /// Not ready from here on; the jobs are asked to stop, a run of training to a point from which
    /// it goes on.
    void begin_stop();
    /// Waits for the jobs; returns the names of those that still run.
    std::vector<std::string> stop_work(base::Duration timeout);

    /// Keeps this node's leases, and gives up partitions that another has taken over. To be called
    /// every third of the lease's ttl (settings().log.lease_ttl).
    base::Status keep_leases();
    /// Keeps the lease by which this node trains for its group, or claims it, where training is on
    /// and the log is shared. That another store has it is no error, but shows in health, status
    /// and metrics. To be called as often as keep_leases(); may take the lease's ttl.
    base::Status keep_trainer();

    /// Tries again what failed; every settings().retention_period, and the first time, applies the
    /// retention of the embedded log's topics as of now(), but for what is not decided yet; as
    /// often as settings().quarantine_period the bounds of the quarantines. Neither is done while
    /// now() is in doubt. To be called as often as keep_leases().
    base::Status upkeep();

    /// A turn of making damaged indices of decisions anew, between the commits of other partitions;
    /// true: there is more to do at once. To be called every second or so, and again while it says
    /// so. Joined states are made anew by advance().
    bool mend();

    /// Gives the leases up, so that others need not wait. Nothing may be decided afterwards.
    base::Status release();

    /// Event time is `now`: reads the log to its end, matures, trains and tests what is due, looks
    /// at how the champions do, and lets a newly certified policy decide, or the one before an
    /// alarm. Returns when all that is done. failed_precondition "clock_jump": by the wall clock,
    /// which is in doubt (ClockGuard): the log was read, and the champion followed; nothing else
    /// was done, until the clock is accepted.
    base::Status advance(base::TimePoint now) { return loop_->advance(now); }

    /// ok: this node trains, and no other may. Errors: Loop::check_trains's.
    base::Status check_trains() const { return loop_->check_trains(); }

    /// permission_denied "auditor_may_not_propose" with audit.enabled: who can read figures of the
    /// vault neither registers nor proposes a candidate. The schedule's runs go on. Likewise
    /// failed_precondition "schema_not_declared", for a command on a store at rest.
    base::Status check_may_propose() const;

    /// Takes a registered model to the gate as of `t`, after reading the log to its end; promotes
    /// if CERTIFIED. A non-empty `new_epoch` opens a new budget epoch with the run, and says why.
    /// `proposed_by`: as TrainingLoop::certify has it.
    /// Errors: check_may_propose()'s among them.
    base::Result<retraining::RunRecord> certify(const domain::PolicyId& candidate,
                                                base::TimePoint t, const std::string& new_epoch,
                                                const std::string& proposed_by = "") {
        RAMPART_RETURN_IF_ERROR(check_may_propose());
        return loop_->certify(candidate, t, new_epoch, proposed_by);
    }

    /// Puts a model on the champion after reading the log to its end, and says what it would
    /// change; with `submit` takes it to the gate as of now() and promotes if CERTIFIED. Errors:
    /// check_may_propose()'s, also without `submit`; retraining::TrainingLoop::propose's.
    base::Result<retraining::Proposed> propose(const retraining::ProposalRequest& request) {
        RAMPART_RETURN_IF_ERROR(check_may_propose());
        return loop_->propose(request);
    }

    /// Returns what the gate reads of a pair, after reading the log to its end. An export of the
    /// vault is in the audit log when this returns, and its records count as read: no later run is
    /// tested on them. Errors: permission_denied "audit_required" for the vault without
    /// audit.enabled; retraining::TrainingLoop::log_of's, registry::record_vault_export's.
    base::Result<retraining::ExportedLog> export_log(const ExportRequest& request) {
        return loop_->export_log(request);
    }

    /// What GET /v1/monitor answers, a JSON document: the last look, or, before the first since the
    /// start, one as of the clock without consequences.
    base::Result<std::string> monitor_report() { return loop_->monitor_report(); }

    /// What GET /v1/report answers, as rampartd::store_report(), of what was known when time moved
    /// last. Waits for nothing, and reads all decisions of the period. Errors: that one's;
    /// failed_precondition "trains_elsewhere".
    base::Result<std::string> store_report(const ReportRequest& request) {
        return loop_->store_report(request);
    }

    /// Waits for nothing.
    base::Status rollback(std::string_view actor, std::string_view reason) {
        return loop_->rollback(actor, reason);
    }

    /// As data_retention::erase_person(). Waits for a test by the gate, but not for training.
    base::Result<data_retention::ErasureReport> erase(const domain::PersonId& person,
                                                      std::string_view actor,
                                                      std::string_view reason, bool dry_run) {
        return loop_->erase(person, actor, reason, dry_run);
    }
    /// Returns all that this node holds of a person, as data_retention::export_person(): the audit
    /// log has it when this returns. Errors: that one's; person_behind()'s, where the application
    /// does not wait in the log or in quarantine either; of a person in the vault, or who may be,
    /// permission_denied "audit_required" without audit.enabled, and invalid_argument
    /// "reason_missing".
    base::Result<data_retention::PersonRecord> export_person(const PersonAsked& asked) {
        return loop_->export_person(asked);
    }
    /// Whose application it is. not_found "unknown_application": no decision about it is held here,
    /// or it is erased.
    base::Result<domain::PersonId> person_behind(const domain::ApplicationId& application) {
        return loop_->person_behind(application);
    }
    /// Returns what is joined of a decision, after reading the log to its end; nullopt: nothing is.
    /// Errors while anything of the log cannot be read: it could have an override;
    /// failed_precondition "role_not_here": this node joins nothing.
    base::Result<std::optional<joiner::JoinState>> joined_of(const domain::DecisionId& decision) {
        return loop_->joined_of(decision);
    }
    ReviewDesk& reviews() { return *reviews_; }

    /// The service's routes and those of the whole: clock, protected attributes, models, runs,
    /// explanations, notices, rollback, monitor, certificates, partitions, quarantine, erasures,
    /// holds, tokens, what dangles.
    void add_routes(http::Router& router);

    /// Who may call.
    std::shared_ptr<const access::Authenticator> callers() const { return sessions_; }
    const Settings& settings() const { return settings_; }
    const Keys& keys() const { return keys_; }
    base::TimePoint now() const { return clock_->now(); }
    registry::ModelRegistry& registry() { return stores_->registry(); }
    joiner::OutcomeJoiner& joiner() { return stores_->joiner(); }
    const protected_attributes::ProtectedStore& attributes() const { return stores_->attributes(); }
    retraining::TrainingLoop& trainer() { return *loop_->trainer(); }  // where it trains
    const streaming::Reader& log() const { return stores_->log().reader(); }
    serving::DecisionService& decisions() { return *decisions_; }
    Explanations& explanations() { return *explanations_; }
    ExplainDeps explain_deps() {
        return {*decisions_, [this](const auto& id) { return load_model(id); },
                stores_->attributes(), draw_key_, settings_.schema};
    }
    /// As ChampionSwitch::load_model().
    base::Result<model::LoadedPolicy> load_model(const domain::PolicyId& id) const {
        return champion_->load_model(id);
    }
    StopButtons& stops() { return *stops_; }

    /// SHA-256 over the joined state (every decision as logged among it) and the ledger, but for
    /// the digests of what is sealed with random keys, in the log and thus in certificates: the
    /// same for the same stream, whatever crashed in between.
    base::Result<base::Digest> state_hash() const { return loop_->state_hash(); }

  private:
    Node(Settings settings, Keys keys, runtime::Clocks clocks)
        : settings_(std::move(settings)),
          keys_(std::move(keys)),
          wall_(clocks.wall != nullptr ? *clocks.wall : system_),
          jobs_(metrics_, clocks.boot) {}
    base::Status open_services(const Progress& progress);
    base::Status open_champion();
    base::Status declare();
    base::Status open_lease();
    void open_stops();
    void open_events();
    void add_health();
    std::vector<joiner::StoppedPartition> stopped() const;
    base::Status state_attributes(
        std::span<const protected_attributes::ProtectedAttributes> people);
    base::Result<bool> resume_keys(const std::string& topic, streaming::PartitionId partition);
    serving::DecisionServiceOptions decision_options();
    base::Status open_requests();
    void begin_requests();
    void begin_as_time_goes_on();
    void begin_events();
    void add_joined_routes(const JobAnswers& answers, http::Router& router);
    void add_decided_routes(const JobAnswers& answers, http::Router& router);
    void add_trained_routes(const JobAnswers& answers, http::Router& router);
    Roles served_roles() const;
    base::Status refresh_callers();
    base::Status read_overrides();
    base::Status report_overrides(std::span<const domain::Override> overrides);
    base::Status refresh_principals();

    Settings settings_;
    Keys keys_;
    decision::DrawKey draw_key_;
    runtime::Metrics metrics_;
    runtime::Health health_;
    std::unique_ptr<Stores> stores_;
    std::unique_ptr<NodeClock> clock_;
    std::unique_ptr<serving::DecisionService> decisions_;
    std::unique_ptr<Explanations> explanations_;
    std::unique_ptr<serving::ApplicationConsumer> applications_;
    std::unique_ptr<data_retention::LogRetention> retention_;
    std::unique_ptr<QuarantineUpkeep> quarantine_;
    std::unique_ptr<ScrubJob> scrub_;
    std::unique_ptr<ErasedBytes> erased_bytes_;
    // on a shared log, where the node has to do with them
    std::unique_ptr<protected_attributes::AttributeFeed> attributes_;
    std::unique_ptr<lease::TrainerLease> trainer_lease_;  // where it trains, on a shared log
    std::unique_ptr<ChampionSwitch> champion_;
    std::unique_ptr<StopButtons> stops_;
    std::unique_ptr<Loop> loop_;
    std::unique_ptr<ReviewDesk> reviews_;
    std::unique_ptr<NodeMetrics> figures_;
    std::unique_ptr<EventStreams> events_;
    const runtime::SystemClock system_;
    const base::Clock& wall_;
    std::shared_ptr<access::Directory> callers_;
    std::shared_ptr<identity_provider::Provider> provider_;  // null: there is none
    std::shared_ptr<access::Sessions> sessions_;             // asks both
    std::unique_ptr<runtime::JobQueue> requests_;
    std::atomic<bool> stopping_{false};
    runtime::Jobs jobs_;  // the last: they use all of the above
};

/// `rampart serve`: listens, opens the node, serves HTTP until SIGTERM or SIGINT, writes the
/// address to <store>/endpoint. Until the node is open, /readyz says how far that is, and all else
/// gets 503 "starting". At the end it is not ready first, answers what it has accepted, leaves a
/// training run where it can be continued, and gives the leases up.
/// `roles`: as load_settings() has them.
base::Status serve(const std::filesystem::path& config, std::string_view roles = {});

}  // namespace rampart::rampartd
