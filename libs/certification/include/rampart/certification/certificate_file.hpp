#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/certification/gate_run.hpp"
#include "rampart/certification/validation_figures.hpp"

namespace rampart::certification {

/// Assumption of the certificate, and whether the gate tested it.
struct Assumption {
    std::string text;
    bool tested = false;
};

/// Registration of the run in the ledger, and the state of the ledger before it.
struct LedgerReference {
    EpochOpened epoch;
    Registration registration;
    uint64_t sequence = 0;
    base::Digest previous;             // digest of the entry before
    base::Digest entry;                // digest of the registration's bytes
    unsigned certificates_before = 0;  // in the epoch, when the run was first registered
    unsigned looks_before = 0;         // further looks then, where the epoch counts them
};

/// Content of a certificate file. CERTIFIED and NO_SOLUTION_FOUND carry everything; REFUSED and
/// IDENTICAL have no ledger entry, no plan's numbers and no results.
struct Certificate {
    Verdict verdict = Verdict::kRefused;
    std::string claim;            // one sentence, with delta and period
    std::string reason, message;  // for REFUSED and IDENTICAL
    RunPlan plan;
    std::optional<LedgerReference> ledger;
    std::vector<GroupResult> results;                  // in the order of plan.groups
    std::vector<ConstraintResult> constraint_results;  // in the order of plan.constraint_plans
    std::optional<double> tipping_gamma;               // as in SealedResult
    std::optional<ValidationFigures> figures;          // older certificates have none
    size_t evidence_records = 0;
    base::Digest evidence_root;  // Merkle root (RFC 6962) of the evidence file's lines
    std::string recipe;          // how the numbers are computed
    std::vector<Assumption> assumptions;
    base::TimePoint issued_at;      // after the vault was read, or refused
    base::TimePoint vault_read_at;  // only with a ledger reference; not before the registration
    /// Event time from which a CERTIFIED permits no promotion any more: issued_at and
    /// GateConfig::valid_months. nullopt: another verdict, or no end.
    std::optional<base::TimePoint> valid_until{};
    /// Time of the issue by the machine's clock, not before that of the charge; nullopt: there was
    /// none. The other times are those of the data: "as known at".
    std::optional<base::TimePoint> issued_wall_clock{};
    /// Software that finished the run, where the one that registered it (plan.identity.software)
    /// was updated between charge and verdict; empty: the same.
    std::string finished_by{};
};

/// A certificate file and the evidence file that goes with it.
///
/// Certificate: a DSSE envelope (payloadType, payload, signatures), one Ed25519 signature over the
/// pre-authentication encoding; the payload is JSON with fixed order of members, no spaces, and
/// numbers in the shortest decimal form that reads back to the same double; minus infinity is null.
/// Evidence: one JSON line per vault record, sorted by person's and record's pseudonym. It holds
/// group memberships and impacts: keep it where auditors can read it and modellers cannot. Empty
/// for REFUSED and IDENTICAL.
struct SealedCertificate {
    std::string certificate;  // bytes of the file
    std::string evidence;     // bytes of the file
};

/// What a certificate is made from besides the run and the vault's outcomes.
struct SealInputs {
    const RunTicket& ticket;
    const SealedResult& result;
    base::TimePoint vault_read_at, issued_at;
    const base::SigningKey& key;
    std::optional<base::TimePoint> issued_wall_clock{};  // where the charge has one
    std::string software{};                              // that finishes the run; empty: not known
};

/// Makes the certificate of a run. `feedback`: as given to run(). Errors: invalid_argument when
/// result or impacts do not belong to the run, or when the vault was read before it was registered.
base::Result<SealedCertificate> seal(const PreparedRun& run, const SealInputs& inputs,
                                     const VaultSource& feedback);
/// The same for a vault in memory; `vault_impact`, `vault_label`: as given to run().
base::Result<SealedCertificate> seal(const PreparedRun& run, const SealInputs& inputs,
                                     const std::vector<double>& vault_impact,
                                     const std::vector<double>& vault_label = {});

/// Makes the certificate of a REFUSED or IDENTICAL. Errors: invalid_argument for another verdict.
base::Result<SealedCertificate> seal_refusal(const GateConfig& config, const RunIdentity& identity,
                                             const PublicResult& result, base::TimePoint issued_at,
                                             const base::SigningKey& key);

/// Ids that the reader expects in the certificate; an empty id is not compared.
struct Expected {
    std::string candidate_id;
    std::string reference_id;
};

/// Checks signature, canonical form and ids only: for a reader without evidence. Errors: data_loss
/// (truncated, not ours), permission_denied (other key, bad signature), failed_precondition
/// (another candidate or reference).
base::Result<Certificate> read_certificate(std::string_view certificate,
                                           const base::VerifyingKey& key,
                                           const Expected& expected = {});

/// Checks all of that, then the evidence: Merkle root, order, and every figure, bet, bound and the
/// verdict recomputed from the lines with the recorded settings; each must agree to 1e-9 (bit for
/// bit on the same kind of machine), counts, digests and the verdict exactly. Not checked, but
/// trusted to the signer: control variates and plan variances (from the development set, whose
/// digest is recorded), and the ledger's other entries. Errors: as above, and data_loss naming the
/// figure that differs.
base::Result<Certificate> verify(std::string_view certificate, std::string_view evidence,
                                 const base::VerifyingKey& key, const Expected& expected = {});

/// Returns what a further look continues, from the certificate of a run, as read_certificate()
/// returned it, and its evidence. Errors: data_loss where the evidence is another's or cannot be
/// read.
base::Result<EarlierLook> earlier_look(const Certificate& certificate, std::string_view evidence);

}  // namespace rampart::certification
