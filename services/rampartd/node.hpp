#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "rampart/base/thread_pool.hpp"
#include "rampart/champion_monitor/champion_monitor.hpp"
#include "rampart/http/router.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/protected_attributes/store.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/retraining/training_loop.hpp"
#include "rampart/runtime/health.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/runtime/shutdown.hpp"
#include "rampart/runtime/system_clock.hpp"
#include "rampart/training_set/training_set_builder.hpp"
#include "services/decision_service/application_consumer.hpp"
#include "services/decision_service/decision_service.hpp"
#include "services/rampartd/attribute_feed.hpp"
#include "services/rampartd/champion_feed.hpp"
#include "services/rampartd/clock_guard.hpp"
#include "services/rampartd/erasure.hpp"
#include "services/rampartd/key_feed.hpp"
#include "services/rampartd/keys.hpp"
#include "services/rampartd/log_access.hpp"
#include "services/rampartd/settings.hpp"

namespace rampart::rampartd {

/// The whole loop in one process, without its network: log, joined state, models, decisions,
/// training.
///
/// open() takes the store's locks (one process at a time) and, on a shared log, the leases of the
/// partitions that this node owns; makes keys, topics (of the embedded log) and the bootstrap
/// champion in a new store, and nothing of it stays if that fails; refuses a store whose keys are
/// not there or are others; and takes up what a crash interrupted at the next advance(). Of several
/// nodes on one log one trains; the others follow its champion. Thread safe.
class Node {
  public:
    /// `shutdown`, if given, ends the wait for another node's lease; it and `clocks` have to
    /// outlive the node.
    static base::Result<std::unique_ptr<Node>> open(Settings settings,
                                                    const runtime::Shutdown* shutdown = nullptr,
                                                    Clocks clocks = {});

    /// Keeps this node's leases, gives up partitions that another has taken over, and tries again
    /// what failed; every settings().retention_period, and the first time, applies the retention of
    /// the embedded log's topics as of now(), but for what is not decided yet, and unless now() is
    /// in doubt. To be called every third of the lease's ttl (settings().log.lease_ttl).
    base::Status tend();

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
    base::Status advance(base::TimePoint now);

    /// Takes a registered model to the gate as of `t`, after reading the log to its end; promotes
    /// if CERTIFIED. A non-empty `new_epoch` opens a new budget epoch with the run, and says why.
    base::Result<retraining::RunRecord> certify(const domain::PolicyId& candidate,
                                                base::TimePoint t, const std::string& new_epoch);

    /// What GET /v1/monitor answers, a JSON document: the last look, or, before the first since the
    /// start, one as of the clock without consequences.
    base::Result<std::string> monitor_report();

    /// Does not wait for a training run.
    base::Status rollback(std::string_view actor, std::string_view reason);

    /// Waits for a training run. As erase_person().
    base::Result<ErasureReport> erase(const domain::PersonId& person, std::string_view actor,
                                      std::string_view reason, bool dry_run);
    /// Whose application it is. not_found "unknown_application": no decision about it is held here,
    /// or it is erased.
    base::Result<domain::PersonId> person_behind(const domain::ApplicationId& application);

    /// The service's routes and those of the whole: clock, protected attributes, models, runs,
    /// rollback, monitor, partitions, quarantine, erasures, holds, what dangles.
    void add_routes(http::Router& router);

    const Settings& settings() const { return settings_; }
    const Keys& keys() const { return keys_; }
    base::TimePoint now() const { return clock_->now(); }
    registry::ModelRegistry& registry() { return *registry_; }
    joiner::OutcomeJoiner& joiner() { return *joiner_; }
    retraining::TrainingLoop& trainer() { return *trainer_; }  // where it trains
    const streaming::Reader& log() const { return log_->reader(); }
    decision_service::DecisionService& decisions() { return *decisions_; }

    /// SHA-256 over the joined state (every decision as logged among it), the ledger and the audit
    /// log: the same for the same stream, whatever crashed in between.
    base::Result<base::Digest> state_hash() const;

  private:
    Node(Settings settings, Keys keys, const runtime::Shutdown* shutdown, Clocks clocks);
    base::Status open_registry();
    base::Status open_log();
    base::Status open_stores();
    base::Status open_clock();
    base::Status open_services();
    base::Status bootstrap();
    base::Status serve_champion();
    base::Status follow_champion();
    base::Status catch_up();
    base::Status train_and_watch(base::TimePoint now);
    base::Status look(base::TimePoint t);
    base::Status retain();
    decision_service::DecisionServiceOptions decision_options();
    void add_partition_routes(http::Router& router);
    void add_privacy_routes(http::Router& router);
    base::Status open_privacy();
    base::Status note_sealing();
    base::Status record_overrides(std::span<const domain::Override> overrides);
    base::Result<http::Response> take_erasure(const http::Request& request);
    base::Result<http::Response> take_hold(const http::Request& request, bool add);
    base::Result<http::Response> list_holds() const;
    base::Result<http::Response> list_unmatched() const;
    base::Result<http::Response> list_partitions() const;
    base::Result<http::Response> take_resume(const http::Request& request);
    base::Result<http::Response> list_quarantined() const;
    base::Result<http::Response> take_from_quarantine(const http::Request& request, bool replay);
    base::Result<http::Response> take_clock(const http::Request& request);
    base::Status check_clock();
    base::Result<http::Response> take_clock_acceptance(const http::Request& request);
    base::Result<http::Response> take_protected_attributes(const http::Request& request);
    base::Result<http::Response> take_rollback(const http::Request& request);
    base::Result<http::Response> list_models() const;
    base::Result<http::Response> list_runs() const;
    base::Result<http::Response> show_monitor();

    Settings settings_;
    Keys keys_;
    base::ThreadPool pool_;
    runtime::Metrics metrics_;
    runtime::Health health_;
    const runtime::SystemClock wall_clock_;
    const runtime::BootClock boot_clock_;
    const Clocks clocks_;
    std::unique_ptr<base::Clock> clock_;
    runtime::ManualClock* manual_clock_ = nullptr;  // clock_, in event mode
    ClockGuard* clock_guard_ = nullptr;             // clock_, by the wall clock
    std::mutex wait_mutex_;
    std::condition_variable wait_;  // never notified: a wait that only shutdown or time ends
    const runtime::Shutdown* shutdown_ = nullptr;
    std::atomic<uint64_t> set_aside_{0};  // joined states, as counted by mend()
    uint64_t erased_ = 0;  // decisions, when the index last read what others had erased
    std::shared_ptr<storage::MemoryBudget> memory_;
    std::unique_ptr<LogAccess> log_;
    std::unique_ptr<KeyFeed> key_feed_;  // on a shared log
    std::unique_ptr<privacy::PersonKeys> person_keys_;
    std::unique_ptr<privacy::Register> register_;
    std::unique_ptr<protected_attributes::ProtectedStore> protected_;
    std::unique_ptr<joiner::OutcomeJoiner> joiner_;
    std::unique_ptr<registry::ModelRegistry> registry_;
    std::optional<training_set::TrainingSetBuilder> builder_;
    std::unique_ptr<retraining::TrainingLoop> trainer_;
    std::unique_ptr<champion_monitor::ChampionMonitor> monitor_;  // where it trains
    std::unique_ptr<decision_service::DecisionService> decisions_;
    std::unique_ptr<decision_service::ApplicationConsumer> applications_;
    std::optional<AttributeFeed> attributes_;     // on a shared log
    std::optional<ChampionPublisher> publisher_;  // where this node trains for others
    std::optional<ChampionFollower> follower_;    // where another does
    mutable std::mutex mutex_;                    // advance, certify
    std::mutex champion_mutex_;                   // from a change of champion until it decides
    mutable std::mutex status_mutex_;
    base::Status last_advance_;                      // for /readyz
    std::vector<joiner::StoppedPartition> stopped_;  // as of the last reading
    std::mutex retention_mutex_;
    std::optional<std::chrono::steady_clock::time_point>
        retained_at_;  // when the log was last relieved
};

/// `rampart serve`: opens the node, serves HTTP until SIGTERM or SIGINT, writes the address to
/// <store>/endpoint.
base::Status serve(const std::filesystem::path& config);

}  // namespace rampart::rampartd
