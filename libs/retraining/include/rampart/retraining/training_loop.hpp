#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/signing.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/joiner/outcome_joiner.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/retraining/run_store.hpp"
#include "rampart/retraining/training_settings.hpp"
#include "rampart/training/candidate.hpp"
#include "rampart/training/gate_inputs.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::retraining {

/// What the trainer works with; all of it has to outlive the trainer.
struct Surroundings {
    const domain::Product& product;
    joiner::OutcomeJoiner& joiner;
    const training_set::TrainingSetBuilder& builder;
    registry::ModelRegistry& registry;
    const base::SigningKey& signing_key;
    std::string evidence_key;  // secret behind the pseudonyms in evidence files
    base::ThreadPool* pool;
    certification::KeyIds key_ids{};  // of the store, for the ledger
};

/// Retrains on schedule and takes each candidate to the gate.
///
/// One run at time t: D_c as known at t → candidate → registered → checked against the vault
/// without impacts → charged in the δ ledger → impacts read → certificate sealed and stored →
/// ledger closed → promoted if CERTIFIED → recorded. Every step may be repeated: after a crash the
/// run is taken up again under its number, time and reference, comes to the same bytes, and charges
/// nothing twice. Not thread safe.
class TrainingLoop {
  public:
    static base::Result<std::unique_ptr<TrainingLoop>> open(const std::filesystem::path& folder,
                                                            TrainingSettings settings,
                                                            Surroundings surroundings);

    /// Moves the joiner's clock to `now` and does all runs that fall due on the way, oldest first.
    base::Status advance(base::TimePoint now);

    /// A run now, whatever the schedule says.
    base::Result<RunRecord> run_at(base::TimePoint t);

    /// Takes a registered model to the gate, as run_at does with its own candidate.
    /// failed_precondition: it does not fit this deployment, or `t` lies before the present
    /// champion's promotion. A non-empty `new_epoch` opens the next budget epoch and says why: its
    /// entry is written together with the run's charge, so that a command that fails or is refused
    /// leaves the epoch before as it was.
    base::Result<RunRecord> certify(const domain::PolicyId& candidate, base::TimePoint t,
                                    const std::string& new_epoch = "");

    /// Takes an interrupted run up again, if there is one.
    base::Status finish_started();

    base::Result<std::vector<RunRecord>> runs() const { return store_.runs(); }

  private:
    struct Verdict {
        certification::PublicResult result;
        std::string certificate;  // id
    };

    TrainingLoop(RunStore store, TrainingSettings settings, Surroundings surroundings)
        : store_(std::move(store)),
          settings_(std::move(settings)),
          around_(std::move(surroundings)) {}

    std::vector<base::TimePoint> due_months(base::TimePoint after, base::TimePoint until) const;
    base::Result<bool> due_by_count() const;
    base::Result<std::optional<RunRecord>> look_again(base::TimePoint t);
    base::Result<std::optional<certification::RunPlan>> earlier_plan(
        const certification::DeltaLedger& ledger, const StartedRun& run,
        const std::string& candidate) const;
    base::Result<std::optional<model::LoadedPolicy>> anchor_of(
        const certification::DeltaLedger& ledger, const std::string& reference) const;
    base::Result<RunRecord> execute(StartedRun run);
    base::Result<RunRecord> begin(base::TimePoint t, std::string candidate,
                                  const std::string& new_epoch = "");
    base::Result<training::GateOutlook> outlook_of(const StartedRun& run) const;
    base::Result<model::LoadedPolicy> candidate_of(StartedRun& run,
                                                   const training_set::DevelopmentSet& development,
                                                   const model::LoadedPolicy& reference);
    base::Status judge(StartedRun& run, RunRecord& record);
    base::Status check_fits(const model::Policy& policy) const;
    certification::GateConfig gate_config(const StartedRun& run,
                                          const certification::DeltaLedger& ledger) const;
    base::Result<std::string> epoch_entry(const certification::DeltaLedger& ledger,
                                          std::string note, base::TimePoint t) const;
    base::Result<bool> begin_epoch(const StartedRun& run, certification::DeltaLedger& ledger) const;
    std::string say_spending(const certification::DeltaLedger& ledger) const;
    base::Result<training_set::VaultSet> vault_of_epoch(const certification::DeltaLedger& ledger,
                                                        base::TimePoint t) const;
    base::Result<std::optional<double>> drift_auc(const training_set::VaultSet& vault,
                                                  base::TimePoint t) const;
    base::Status abandon_open_run(certification::DeltaLedger& ledger, std::string_view why,
                                  base::TimePoint t);
    base::Result<Verdict> gate(const StartedRun& run,
                               const training_set::DevelopmentSet& development,
                               const model::LoadedPolicy& candidate,
                               const model::LoadedPolicy& reference);
    base::Result<Verdict> test(
        const StartedRun& run, const certification::PreparedRun& prepared,
        certification::DeltaLedger& ledger,
        const std::function<training::VaultOutcomes(const certification::RunTicket&)>&
            read_outcomes);
    base::Result<Verdict> refuse(const certification::GateConfig& config,
                                 const certification::RunIdentity& identity,
                                 const certification::PublicResult& result, base::TimePoint t);
    base::Result<std::optional<Verdict>> already_closed(const certification::DeltaLedger& ledger,
                                                        const StartedRun& run,
                                                        const std::string& candidate) const;
    base::Result<certification::DeltaLedger> read_ledger() const;
    base::Status write_entry(certification::DeltaLedger& ledger, const std::string& entry,
                             base::TimePoint t);
    base::Status promote(const StartedRun& run, const domain::PolicyId& candidate,
                         const std::string& certificate);

    RunStore store_;
    TrainingSettings settings_;
    Surroundings around_;
};

}  // namespace rampart::retraining
