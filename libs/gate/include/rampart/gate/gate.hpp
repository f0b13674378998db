#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/base/thread_pool.hpp"
#include "rampart/certification/delta_ledger.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/ledger_view.hpp"
#include "rampart/domain/product.hpp"
#include "rampart/gate/gate_settings.hpp"
#include "rampart/gate/protocol.hpp"
#include "rampart/gate/stores.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/training/parameter_search.hpp"
#include "rampart/training_set/training_set_builder.hpp"

namespace rampart::gate {

/// What the gate works with; all of it must outlive the gate.
struct GateDeps {
    const domain::Product& product;
    const RecordSource& records;
    GateStore& store;
    const base::SigningKey& signing_key;
    std::string evidence_key;  // secret behind the pseudonyms in evidence files
    base::ThreadPool* pool = nullptr;
    certification::KeyIds key_ids{};  // ids of the store's keys, for the ledger
    /// The machine's clock, for the times of charge and issue; nullptr: none, because the store
    /// goes by event time, and a replay gives the same bytes.
    const base::Clock* wall_clock = nullptr;
    std::string software{};  // version and digest of the sources of this program
    ReadLogEnds log_ends{};  // for GateSettings::commit_log; empty: there is no log
};

/// Proposer of what is trained on schedule, from the development set alone. Every other one is a
/// person, who may have read figures of certificates.
inline constexpr std::string_view kSchedule = "schedule";

/// A candidate for the gate. The same submission again, after a crash, is the same run.
struct Submission {
    const model::LoadedPolicy& candidate;
    const model::LoadedPolicy& reference;             // the policy in charge
    const training_set::DevelopmentSet& development;  // as known at `at`
    base::TimePoint at;                               // event time of the run
    bool distilled = false;     // the trainer made the candidate by distillation
    uint32_t opens_epoch = 0;   // number of the budget epoch that the run opens; 0: none
    std::string epoch_note{};   // reason for that epoch
    std::string proposed_by{};  // a person, or kSchedule; empty: a person
    std::string recipe{};       // SHA-256 of the recipe of the candidate's training; empty: unknown
};

/// What the gate would test of a submission, and the vault's rows with their outcomes.
struct TestedLog {
    TestInputs inputs;
    training_set::VaultSet vault;
};

/// The gate's protocol: open the ledger → precheck the candidate without an impact of the vault →
/// charge the run in the ledger → read the impacts → test → seal and store the certificate → close
/// the run in the ledger.
///
/// Every step may be repeated. After a crash the same submission takes the open run up again, comes
/// to the same bytes and charges nothing twice; a run that is closed gives its verdict again. Not
/// thread safe.
class Gate {
  public:
    /// Errors: certification::validate's.
    static base::Result<std::unique_ptr<Gate>> create(GateSettings settings, GateDeps deps);

    /// Tests a candidate. A refused run costs nothing; it has a certificate too. Errors: those of
    /// the stores, and of data that cannot be laid out for the gate (training::is_about_data).
    base::Result<Answer> test(const Submission& run);

    /// Returns what test() would read in the current epoch if the vault had never been exported.
    /// The caller has an export recorded, for GateStore::exported_as_known_at, before it passes an
    /// outcome of the vault on. Errors: failed_precondition "run_open", while a run is open; those
    /// of test().
    base::Result<TestedLog> log_of(const Submission& run) const;

    /// Checks that an epoch can be opened at `at`; returns the number that it would have. Errors:
    /// DeltaLedger::next_epoch's.
    base::Result<uint32_t> check_new_epoch(const std::string& note, base::TimePoint at) const;

    /// Returns what the next run at `t` will demand: its share of the budget, and numbers of
    /// persons in the vault. No outcome of the vault has a part in it.
    base::Result<training::GateForecastInputs> forecast_inputs(base::TimePoint t) const;
    /// Returns the same without reading the vault: as many persons as it should have by the shares
    /// of the two sides, in whichever epoch their decisions were made.
    base::Result<training::GateForecastInputs> forecast_inputs(
        const training_set::DevelopmentSet& development) const;

    /// Whether the pair's last run can be looked at again at no charge: it did not pass, no run is
    /// open, and the settings allow further looks. Not where a person proposed it and figures of
    /// certificates have been read.
    base::Result<bool> allows_further_look(const certification::PolicyPair& pair) const;

    /// Says where the current epoch's spending differs from the configured one, and what is not
    /// proven then; empty: it does not differ.
    base::Result<std::string> spending_note() const;

  private:
    struct Inputs;
    Gate(GateSettings settings, GateDeps deps)
        : settings_(std::move(settings)), deps_(std::move(deps)) {}
    base::Result<certification::DeltaLedger> read_ledger() const;
    base::Result<std::string> epoch_entry(const certification::DeltaLedger& ledger,
                                          std::string note, base::TimePoint t) const;
    base::Result<bool> begin_epoch(const Submission& run, certification::DeltaLedger& ledger) const;
    certification::GateConfig config_of(const Submission& run,
                                        const certification::DeltaLedger& ledger) const;
    struct EpochVault {
        training_set::VaultSet vault;
        size_t read_before = 0;  // persons of whom an earlier epoch has read a record
        std::optional<base::TimePoint> from{};    // older records are left out; nullopt: none are
        std::optional<base::TimePoint> unread{};  // earlier ones have been read; nullopt: none have
    };
    /// Time up to which what was known may have a part in a submission; nullopt: nothing has.
    using ReadUntil = std::optional<base::TimePoint>;
    base::Result<ReadUntil> read_until(const Submission& run,
                                       const certification::DeltaLedger& ledger) const;
    using PersonVisitor = std::function<void(std::string_view person)>;
    base::Result<std::optional<base::TimePoint>> last_read(const certification::LedgerView& history,
                                                           const ReadUntil& read_until,
                                                           const PersonVisitor& visit = {}) const;
    base::Result<EpochVault> vault_of_epoch(const certification::LedgerView& history,
                                            base::TimePoint t, const ReadUntil& read_until) const;
    base::Status add_erased(const Submission& run, std::optional<base::TimePoint> from,
                            Inputs& inputs) const;
    base::Status add_origin(const Submission& run, Inputs& inputs) const;
    Protocol protocol() const;
    double delta_of_next_run(const certification::DeltaLedger& ledger) const;
    base::Result<std::optional<double>> drift_auc(const training_set::VaultSet& vault,
                                                  base::TimePoint t) const;
    base::Result<std::optional<model::LoadedPolicy>> anchor_of(
        const certification::LedgerView& history, const model::LoadedPolicy& reference) const;
    base::Result<std::optional<certification::EarlierLook>> earlier_look(
        const certification::LedgerView& history, const Submission& run, const Inputs& inputs,
        const std::optional<base::TimePoint>& unread) const;
    base::Result<Inputs> inputs_of(const Submission& run, const certification::DeltaLedger& ledger,
                                   const ReadUntil& read_until) const;

    GateSettings settings_;
    GateDeps deps_;
};

}  // namespace rampart::gate
