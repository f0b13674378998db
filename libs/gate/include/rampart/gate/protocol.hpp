#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rampart/base/signing.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/gate/stores.hpp"
#include "rampart/training/gate_inputs.hpp"

namespace rampart::gate {

/// Verdict on a submission.
struct Answer {
    certification::PublicResult result;
    std::string certificate;  // digest, for the vault's side only; empty: none was made
    std::string name;         // public name of the run's certificate; of a refusal its digest
};

/// A candidate laid out for the test, without an impact of the vault.
struct TestInputs {
    certification::GateConfig config;
    certification::RunIdentity identity;
    ope::LoggedFeedback selection{};   // the development set's decisions with impacts
    ope::LoggedDecisions decisions{};  // the vault's, without
    std::optional<certification::EarlierLook> earlier{};  // the look that this run continues
};

/// Reads the outcomes of TestInputs::decisions; called with the charge on the disk.
using ReadOutcomes = std::function<training::VaultOutcomes(const certification::RunTicket&)>;

/// Returns the ends of the decision log as it is now; `known` is an earlier answer, behind which it
/// may read on. Empty: there is no log.
using ReadLogEnds = std::function<base::Result<std::vector<certification::LogEnd>>(
    const std::vector<certification::LogEnd>& known)>;

/// Takes one candidate through the steps of the gate: precheck → charge → read → test → seal →
/// store → close. Each may be repeated after a crash: a certificate of the run that is stored
/// already is the run's, so that its bytes, with the time of the issue, are no others. Not thread
/// safe.
class Protocol {
  public:
    /// All of it must outlive the protocol.
    Protocol(GateStore& store, const base::SigningKey& signing_key, std::string_view evidence_key,
             const base::Clock* wall_clock = nullptr, ReadLogEnds log_ends = {})
        : store_(store),
          signing_key_(signing_key),
          evidence_key_(evidence_key),
          wall_clock_(wall_clock),
          log_ends_(std::move(log_ends)) {}

    base::Result<certification::DeltaLedger> read_ledger() const;

    /// Tests the candidate at `t`. `ledger`: as read, and perhaps with a further epoch at its end,
    /// which is stored with the charge of its first run. A run that is open is finished, also by
    /// other software where that comes to the plan that was registered, bit for bit. One that can't
    /// be finished as it was registered is closed, and this one is another. A refusal has a
    /// certificate, too, and says "no new epoch was opened" if `asked_for_epoch`. Errors: those of
    /// the stores.
    base::Result<Answer> test(const TestInputs& inputs, const ReadOutcomes& outcomes,
                              certification::DeltaLedger& ledger, base::TimePoint t,
                              bool asked_for_epoch) const;

  private:
    base::Status write_entry(certification::DeltaLedger& ledger, const std::string& entry,
                             base::TimePoint t) const;
    base::Status abandon_open_run(certification::DeltaLedger& ledger, std::string_view why,
                                  base::TimePoint t) const;
    base::Result<Answer> refuse(const TestInputs& inputs, const certification::PublicResult& result,
                                base::TimePoint t) const;
    base::Result<std::optional<Answer>> close_with_stored(certification::DeltaLedger& ledger,
                                                          base::TimePoint t) const;
    base::Status charge(const certification::DeltaLedger::RunRequest& request,
                        certification::DeltaLedger& ledger, base::TimePoint t) const;
    std::optional<base::TimePoint> issue_time(const certification::RunTicket& ticket) const;
    base::Result<certification::PrecheckResult> check(const TestInputs& inputs,
                                                      const std::string& software,
                                                      const certification::DeltaLedger& l) const;
    base::Result<Answer> run_test(const certification::PreparedRun& prepared,
                                  const TestInputs& inputs, const ReadOutcomes& outcomes,
                                  certification::DeltaLedger& ledger, base::TimePoint t) const;
    GateStore& store_;
    const base::SigningKey& signing_key_;
    std::string_view evidence_key_;
    const base::Clock* wall_clock_;  // nullptr: certificates have event times only
    ReadLogEnds log_ends_;           // empty: charges do not commit to a log
};

}  // namespace rampart::gate
