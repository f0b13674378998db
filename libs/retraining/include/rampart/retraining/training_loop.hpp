#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "rampart/base/signing.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/gate/gate.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/retraining/proposed.hpp"
#include "rampart/retraining/run_store.hpp"
#include "rampart/retraining/training_settings.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::retraining {

/// What the trainer works with; all of it must outlive the trainer.
struct TrainerDeps {
    const domain::Product& product;
    joiner::OutcomeJoiner& joiner;
    const training_set::TrainingSetBuilder& builder;
    registry::ModelRegistry& registry;
    const base::SigningKey& signing_key;
    std::string evidence_key;  // secret behind the pseudonyms in evidence files
    base::ThreadPool* pool;
    certification::KeyIds key_ids{};          // ids of the store's keys, for the ledger
    const privacy::Register* list = nullptr;  // has the tally of erased records; nullptr: none
    const base::Clock* wall_clock = nullptr;  // gate::GateDeps::wall_clock
    std::string software{};                   // gate::GateDeps::software
    gate::ReadLogEnds log_ends{};             // gate::GateDeps::log_ends
    std::function<double()> seconds{};        // a steady clock: how long a search takes
    std::function<bool()>
        stopping{};  // true: leave the run where it can be continued; empty: never
    /// Is locked, shared, while the gate counts records of the joined state and of the tally
    /// together; nullptr: there are no erasures meanwhile.
    std::shared_mutex* counting = nullptr;
    /// Is asked before each test by the gate, whose charge cannot be taken back; an error leaves
    /// the run where it can be continued. Empty: no other store may train.
    std::function<base::Status()> may_charge{};
};

/// Policies and time of a log.
struct LogRequest {
    std::string candidate, reference;  // ids of registered models; both empty: no pair
    base::TimePoint at;                // as known then
};

/// What the gate reads of both sides.
struct ExportedLog {
    training_set::DevelopmentSet development;
    gate::TestedLog log;
};

/// Retrains on schedule and takes each candidate to the gate.
///
/// One run at time t: development set as known at t → candidate → registered → tested by the gate
/// (gate::Gate) → promoted if CERTIFIED, or proposed to people (on_certified) → recorded. Every
/// step may be repeated: after a crash the run is continued under its number, time and reference,
/// and comes to the same result; so is one that was left because of TrainerDeps::stopping
/// (unavailable "training_stopped"). What was known at t does not change once the joiner's clock is
/// past it, so that a run and the joiner work at the same time. A promotion is dated at the moment
/// of the switch by TrainerDeps::wall_clock; without one, as of t. One thread at a time.
class TrainingLoop {
  public:
    static base::Result<std::unique_ptr<TrainingLoop>> open(const std::filesystem::path& folder,
                                                            TrainingSettings settings,
                                                            TrainerDeps deps);

    /// Does all runs that fall due up to `now`, oldest first; moves the joiner's clock before each,
    /// where it is not further already.
    base::Status advance(base::TimePoint now);
    /// Returns the time up to which the schedule is served; nullopt: it never began.
    base::Result<std::optional<base::TimePoint>> served_until() const {
        return store_.served_until();
    }

    /// Returns when the schedule by months has its next run; nullopt: it has none, or never began.
    base::Result<std::optional<base::TimePoint>> next_due() const;

    /// Makes a run now, whatever the schedule says.
    base::Result<RunRecord> run_at(base::TimePoint t);

    /// Takes a registered model to the gate, as run_at does with its own candidate. Errors:
    /// invalid_argument "reserved_name": `proposed_by` is gate::kSchedule;
    /// failed_precondition: it does not fit this deployment, or `t` lies before the present
    /// champion's promotion. A non-empty `new_epoch` opens the next budget epoch and is its reason;
    /// its entry is written together with the run's charge, so that a command that fails or is
    /// refused opens none. `proposed_by` is named in the certificate and, if it is promoted, in the
    /// audit log; empty: not named.
    base::Result<RunRecord> certify(const domain::PolicyId& candidate, base::TimePoint t,
                                    const std::string& new_epoch = "",
                                    const std::string& proposed_by = "");

    /// Puts a model from elsewhere as a link on the champion, says from the development set what it
    /// would change and, if asked to, registers the candidate and takes it to the gate as certify()
    /// does. Without `submit`, and where it fails before the gate is asked, nothing is stored. What
    /// is submitted is in the audit log before the run begins. Errors: training::propose's;
    /// invalid_argument for a damaged file; failed_precondition "no_champion", "before_promotion";
    /// certify()'s.
    base::Result<Proposed> propose(const ProposalRequest& request, base::TimePoint t);

    /// Returns what the gate would read of a pair of registered models, with the outcomes of both
    /// sides; without a pair, of the champion. Errors: gate::Gate::log_of's; failed_precondition,
    /// for models that do not fit this deployment; invalid_argument "not_known_yet": a time after
    /// the clock of the joined state.
    base::Result<ExportedLog> log_of(const LogRequest& request) const;

    /// Continues an interrupted run, if there is one.
    base::Status finish_started();

    /// Returns the finished runs. Records of an earlier release, which name a certificate by its
    /// digest, get its public name.
    base::Result<std::vector<RunRecord>> runs() const;

    /// How the schedule goes.
    struct Progress {
        std::map<certification::Verdict, uint64_t> runs;  // finished ones
        std::optional<base::TimePoint> last_run;          // event time; nullopt: none is finished
        // numbers of the run under way, and of the last one that is finished; 0: none
        uint32_t under_way = 0, finished = 0;
        /// When the schedule's next run is due; nullopt: it has not begun, or goes by what matures.
        std::optional<base::TimePoint> next_due;
        double last_seconds = 0;  // that the last run of this process took; NaN: there was none
        /// Decisions, of either side, that the schema did not explain when this process last read
        /// the window; NaN: it has not yet.
        double unexplained = 0;
    };
    /// Returns it as it is stored. Any thread may ask, also while a run is under way.
    base::Result<Progress> progress() const;

  private:
    TrainingLoop(RunStore store, TrainingSettings settings, TrainerDeps deps);

    std::vector<base::TimePoint> due_months(base::TimePoint after, base::TimePoint until) const;
    base::Result<uint64_t> matured_at_last_run() const;
    base::Result<bool> due_by_count() const;
    base::Result<std::optional<RunRecord>> look_again(base::TimePoint t);
    base::Result<training_set::DevelopmentSet> read(base::TimePoint t) const;
    base::Result<RunRecord> execute(StartedRun run);
    base::Result<RunRecord> begin(StartedRun asked, const std::string& new_epoch = "");
    base::Status check_since_promotion(base::TimePoint t) const;
    base::Status check_may_charge() const;
    base::Status submit(const ProposalRequest& request, Proposed& made);
    tuning::Host host_of(const StartedRun& run);
    base::Result<std::string> noted_of(const std::string& candidate, const char* figure) const;
    base::Result<std::string> recipe_of(const StartedRun& run) const;
    base::Result<std::optional<base::Digest>> settings_of(const std::string& policy) const;
    base::Result<std::optional<training_set::DevelopmentSet>> rows_to_plan(
        const StartedRun& run, const training_set::DevelopmentSet& development) const;
    base::Result<training::Candidate> make(const StartedRun& run,
                                           const training_set::DevelopmentSet& development,
                                           const model::LoadedPolicy& reference,
                                           const training::Recipe& recipe);
    base::Result<training::Candidate> make_best(const StartedRun& run,
                                                const training_set::DevelopmentSet& development,
                                                const model::LoadedPolicy& reference,
                                                std::span<const training::Recipe> recipes);
    base::Result<model::LoadedPolicy> candidate_of(StartedRun& run,
                                                   const training_set::DevelopmentSet& development,
                                                   const model::LoadedPolicy& reference);
    base::Status judge(StartedRun& run, RunRecord& record);
    base::Status check_fits(const model::Policy& policy) const;
    base::Status check_goes_on() const;
    std::shared_lock<std::shared_mutex> counting() const;
    base::Status accept(const StartedRun& run, const domain::PolicyId& candidate,
                        const std::string& certificate, RunRecord& record);

    RunStore store_;
    TrainingSettings settings_;
    TrainerDeps deps_;
    std::unique_ptr<gate::RecordSource> records_;
    std::unique_ptr<gate::GateStore> gate_store_;
    std::unique_ptr<gate::Gate> gate_;
    std::atomic<double> last_seconds_{std::numeric_limits<double>::quiet_NaN()};
    mutable std::atomic<double> unexplained_{std::numeric_limits<double>::quiet_NaN()};
};

}  // namespace rampart::retraining
