#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/certification/delta_ledger.hpp"

namespace rampart::certification {

/// A candidate and the policy that it is compared with.
struct PolicyPair {
    std::string_view candidate, reference;  // policy ids
};

/// Beginning of a closing's note where outcomes of the vault ended the run. It is answered like one
/// that did not pass, and has no certificate.
inline constexpr std::string_view kEndedByOutcomes = "abandoned: outcomes of the vault ended it: ";

/// Returns the public name of a run's certificate: "e2r6" for run 6 of epoch 2, "e2r6l1" for its
/// first further look. Unlike the certificate's digest it depends on no outcome of the vault.
std::string certificate_name(const Registration& run);

/// The history in a ledger, decoded once: the answers that the gate's protocol needs from earlier
/// entries. A copy of the ledger at that time; entries appended later are not in it. Immutable,
/// thread safe.
class LedgerView {
  public:
    /// A registration, first or further look, and its closing.
    struct Run {
        Registration registration;
        std::optional<Closing> closing;  // nullopt: the run is open
    };

    /// Errors: decode_ledger_entry's.
    static base::Result<LedgerView> of(const DeltaLedger& ledger);

    /// Time of the last registration of an earlier epoch; nullopt: no run was registered before
    /// the current epoch. Vault records that had matured by then have been read with an earlier
    /// budget, so that the current epoch's vault begins after them.
    std::optional<base::TimePoint> epoch_start() const;

    /// Reference of the current epoch's first run; nullopt: the epoch has no run.
    std::optional<std::string_view> anchor() const;

    /// Id of the certificate that holds the plan for a further look at the pair: that of its last
    /// closed look in the current epoch, if it did not pass. nullopt: the pair has no such
    /// certificate, because no run of it is closed, or it passed, or its run was abandoned.
    std::optional<std::string_view> plan_of(const PolicyPair& pair) const;

    /// The pair's first run that was registered at `at`, in `first_epoch` or a later one, and is
    /// closed with a certificate or by outcomes of the vault; nullptr: none. A run that is repeated
    /// after a crash finds its answer here.
    const Run* answered_run(const PolicyPair& pair, base::TimePoint at, uint32_t first_epoch) const;

    /// Digest of the certificate that has this public name, as its closing has it; nullopt: none.
    std::optional<std::string_view> certificate_named(std::string_view name) const;
    /// Run that was closed with the certificate of this digest; nullptr: none was.
    const Run* closed_with(std::string_view certificate) const;
    /// Public name of the certificate with this digest; nullopt: no closing has it.
    std::optional<std::string> name_of(std::string_view certificate) const;

  private:
    LedgerView() = default;
    uint32_t epoch_ = 0;     // the current one; 0: none is open
    std::vector<Run> runs_;  // runs of all epochs, in order of registration
};

}  // namespace rampart::certification
