#pragma once

#include <string>

#include "rampart/base/signing.hpp"
#include "rampart/gate/protocol.hpp"
#include "rampart/gate_log/decision_file.hpp"
#include "rampart/gate_log/file_store.hpp"

namespace rampart::gate_log {

/// How the gate is asked about a log.
struct LogRun {
    std::string candidate = "candidate", reference = "reference";  // names in the certificate
    base::TimePoint at;                                            // time of the run
    bool look = false;        // a further look at the pair, which is charged already
    std::string new_epoch{};  // reason for a new epoch that the run opens; empty: it opens none
    /// Secret behind the pseudonyms in evidence, 16 bytes or more; empty: it follows from the
    /// signing key. With the secret of a store, records come in the store's order.
    std::string evidence_key{};
    const base::Clock* wall_clock = nullptr;  // gate::GateDeps::wall_clock
    std::string software{}, proposed_by{};    // as in certification::RunIdentity
};

/// Returns the time of the last record that a run of an earlier epoch has read, so that `run` may
/// read later ones only; nullopt: none was read. Errors: failed_precondition "unknown_period", for
/// a run that does not say what it read; DeltaLedger::open's.
base::Result<std::optional<base::TimePoint>> read_until(const FileStore& store, const LogRun& run);

/// Takes the log through the gate's protocol; a ledger without an epoch opens its first. A new
/// epoch is stored with the charge of its first run: a run that is refused opens none. The
/// certificate is FileStore::last(). Errors: failed_precondition "no_earlier_certificate", for a
/// look at a pair that no closed run is about, or whose settings are others, or where a certificate
/// of an earlier epoch is gone; "other_log_period": the log was not read with read_until();
/// "run_open": a new epoch, while a run is open; those of gate::Protocol::test and FileStore.
base::Result<gate::Answer> run_log(const DecisionFile& log, const LogSettings& settings,
                                   const LogRun& run, FileStore& store,
                                   const base::SigningKey& key);

}  // namespace rampart::gate_log
