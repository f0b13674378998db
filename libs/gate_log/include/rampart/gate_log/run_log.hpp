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
    bool look = false;  // a further look at the pair, which is charged already
    const base::Clock* wall_clock = nullptr;  // gate::GateDeps::wall_clock
    std::string software{}, proposed_by{};    // as in certification::RunIdentity
};

/// Takes the log through the gate's protocol; a ledger without an epoch opens its first. The
/// certificate is FileStore::last(). Errors: failed_precondition "no_earlier_certificate", for a
/// look at a pair that no closed run is about, or whose settings are others; those of
/// gate::Protocol::test and FileStore.
base::Result<gate::Answer> run_log(const DecisionFile& log, const LogSettings& settings,
                                   const LogRun& run, FileStore& store,
                                   const base::SigningKey& key);

}  // namespace rampart::gate_log
