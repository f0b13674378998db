#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/certification/gate_config.hpp"
#include "rampart/certification/verdict.hpp"

namespace rampart::certification {

/// Ids of the secrets behind a vault, which do not reveal them. Another `split` is another vault.
struct KeyIds {
    std::string draw, evidence, signing, split;
    bool operator==(const KeyIds&) const = default;
};

/// Declaration of a budget: `runs` runs share delta_epoch.
struct EpochOpened {
    uint32_t epoch = 0;  // 1, 2, …
    double delta_epoch = 0;
    uint32_t runs = 0;
    Spending spending = Spending::kEqual;
    /// Whether kByHistory counts further looks among the registrations. false: an epoch of an older
    /// version, whose budget is proven only while there is no further look.
    bool counts_looks = false;
    /// Part of delta_epoch for the test of the logged probabilities, whose refusals tell something
    /// of the vault, too; the charges are made from the rest. 0: an epoch of an older version.
    double reserve = 0;  // in [0, delta_epoch)
    std::string note;    // reason for opening it
    base::TimePoint at;  // not before any entry in front of it
    KeyIds keys{};       // empty: an epoch of a version that did not record them
};

/// Records of a partition of the decision log up to `next`, and one digest of them all:
/// streaming::ChainedPosition.
struct LogEnd {
    uint32_t partition = 0;
    uint64_t next = 0;
    base::Digest chain;
    uint64_t begin = 0;  // the first of them; later than 0 where the log began there already
    bool operator==(const LogEnd&) const = default;
};

/// Charge of a run. Stored durably before an impact of the vault is read.
///
/// A further look is the same run again on the records that have matured since: the same candidate
/// against the same reference with the same control variates and bets. The wealth of fixed bets
/// holds at all looks together (Ville's inequality), so that it costs nothing. Its answer may
/// influence later candidates, so that kByHistory counts it among the registrations.
struct Registration {
    uint32_t epoch = 0, run = 0;  // run k = 1 … K
    double delta = 0;             // delta_k, the charge
    double spent_before = 0;      // sum of the epoch's earlier charges
    std::string candidate_id, reference_id;
    base::Digest plan;       // digest of the run's plan (RunPlan)
    std::string vault_rule;  // rule by which the records were chosen, to read them again
    base::TimePoint at;
    uint32_t look = 0;      // 0: the first, charged; 1, 2, …: further ones
    base::Digest frozen{};  // digest of what all looks share
    /// Time of the charge by the machine's clock, which `at` need not be; nullopt: there was none.
    std::optional<base::TimePoint> wall_clock{};
    /// The decision log when the run was charged, by partition: a record that is left out or
    /// changed later is found. Empty: a run on a file, or of a version that did not record it.
    std::vector<LogEnd> log{};
    /// RunIdentity::software of the plan, so that another can finish the run. Empty: as `log`.
    std::string software{};
};

/// End of a run. Whatever the verdict, its charge stays.
struct Closing {
    uint32_t epoch = 0, run = 0;
    Verdict verdict = Verdict::kNoSolutionFound;  // CERTIFIED or NO_SOLUTION_FOUND
    std::string
        certificate;   // SHA-256 of the certificate's bytes, 64 hex digits; empty: none was made
    std::string note;  // "abandoned: …" when the run could not be finished
    base::TimePoint at;
};

struct LedgerEntry {
    uint64_t sequence = 0;  // 0, 1, …
    base::Digest previous;  // SHA-256 of the previous entry's bytes; of nothing for the first
    std::variant<EpochOpened, Registration, Closing> body;
};

/// Returns one line of JSON without the newline: the bytes that are stored, hashed and chained.
std::string encode(const LedgerEntry& entry);
/// Reads an entry. Errors: data_loss for anything that `encode` would not have written.
base::Result<LedgerEntry> decode_ledger_entry(std::string_view bytes);

/// Permission to read the vault's impacts for one registered run. Only a ledger issues it.
class RunTicket {
  public:
    const Registration& registration() const { return registration_; }
    const EpochOpened& epoch() const { return epoch_; }
    const std::string& entry() const { return entry_; }  // the registration's bytes
    unsigned certificates_before() const { return certificates_before_; }  // in this epoch
    unsigned looks_before() const { return looks_before_; }                // counted by the epoch

  private:
    friend class DeltaLedger;
    RunTicket() = default;
    Registration registration_;
    EpochOpened epoch_;
    std::string entry_;
    unsigned certificates_before_ = 0;
    unsigned looks_before_ = 0;
};

/// Account of an error budget: append-only, hash-chained, K runs an epoch, one run at a time.
///
/// Pure: next_*() makes the bytes of an entry, the caller stores them durably, then append()s the
/// same bytes. After a crash, open() finds what was stored but not appended. A run that is
/// registered and not closed stays charged and can be continued (`open_run`, `ticket`) with the
/// same plan without another charge. Not thread safe: the owner of the store serialises calls.
class DeltaLedger {
  public:
    /// Replays stored entries, oldest first. Errors: data_loss naming the entry where the chain,
    /// the encoding or a rule breaks.
    static base::Result<DeltaLedger> open(const std::vector<std::string>& entries);

    /// Makes the entry that opens the next epoch. Errors: failed_precondition while a run is open;
    /// invalid_argument for a bad budget, or a time before that of an entry ("time_goes_back").
    base::Result<std::string> next_epoch(double delta_epoch, uint32_t runs, Spending spending,
                                         std::string note, base::TimePoint at, KeyIds keys = {},
                                         double reserve = 0) const;

    /// Returns delta of the open run or, if none is open, of the next. Errors: failed_precondition
    /// before the first epoch; resource_exhausted ("delta_spent") when the epoch's runs are spent.
    base::Result<double> next_delta() const;

    struct RunRequest {
        std::string candidate_id, reference_id;
        base::Digest plan;
        std::string vault_rule;
        uint32_t look = 0;
        base::Digest frozen{};
        std::string software{};
    };
    /// Returns the last registration of the run of this epoch that a further look continues: about
    /// this candidate and reference, not passed, closed with a certificate. nullptr: none.
    const Registration* closed_run(std::string_view candidate_id,
                                   std::string_view reference_id) const;

    /// Makes the entry that charges a run. Errors: as next_delta; failed_precondition ("run_open")
    /// while a run is open; for a further look failed_precondition "no_earlier_look" unless
    /// closed_run() has the same `frozen`.
    base::Result<std::string> next_registration(
        const RunRequest& request, base::TimePoint at,
        std::optional<base::TimePoint> wall_clock = std::nullopt,
        std::vector<LogEnd> log = {}) const;

    /// Makes the entry that closes the open run. Errors: failed_precondition when none is;
    /// invalid_argument for a verdict other than CERTIFIED and NO_SOLUTION_FOUND.
    base::Result<std::string> next_closing(Verdict verdict, std::string certificate,
                                           std::string note, base::TimePoint at) const;

    /// Appends an entry that is stored. Errors: data_loss when it doesn't continue the chain or
    /// breaks a rule of the ledger; the ledger is then unchanged.
    base::Status append(std::string_view bytes);

    const std::optional<Registration>& open_run() const { return open_run_; }
    /// Bytes of the open run's entry; requires one.
    const std::string& open_entry() const { return open_entry_; }

    /// Issues the ticket of the open run. Errors: failed_precondition when no run is open, or when
    /// the open one was registered for another plan or candidate ("other_run_open": finish it or
    /// close it first).
    base::Result<RunTicket> ticket(const RunRequest& request) const;

    /// The current epoch and its budget; empty before the first.
    const std::optional<EpochOpened>& current() const { return epoch_; }
    uint32_t epoch() const { return epoch_ ? epoch_->epoch : 0; }
    uint32_t runs_used() const { return static_cast<uint32_t>(runs_.size()); }  // in this epoch
    uint32_t runs_left() const;
    double spent() const { return spent_; }  // by the current epoch
    const std::vector<std::string>& entries() const { return entries_; }
    base::Digest head() const;  // digest of the last entry
    /// The decision log at the last registration that has it; empty: none has.
    const std::vector<LogEnd>& log() const { return log_; }

  private:
    base::Status check(const LedgerEntry& entry) const;
    base::Status check_body(const EpochOpened& body) const;
    base::Status check_body(const Registration& body) const;
    base::Status check_look(const Registration& body) const;
    base::Status check_body(const Closing& body) const;
    void apply(const EpochOpened& body);
    void apply(const Registration& body);
    void apply(const Closing& body);
    base::Result<std::string> next(std::variant<EpochOpened, Registration, Closing> body) const;

    std::vector<std::string> entries_;
    std::optional<EpochOpened> epoch_;
    std::optional<Registration> open_run_;
    std::string open_entry_;
    /// A run of the epoch with its last look.
    struct Run {
        Registration last;
        unsigned certificates_before = 0, looks_before = 0;  // when it was first registered
        std::optional<Closing> closing;
    };
    std::vector<Run> runs_;
    uint32_t certificates_ = 0, looks_ = 0;
    double spent_ = 0;
    std::vector<LogEnd> log_;
    base::TimePoint latest_ = base::TimePoint::from_micros(INT64_MIN);  // latest time of an entry
};

/// Returns the charge of a run in the epoch, registered after m = `registrations` first and further
/// looks of which s = `certificates_before` were certified. With K = runs, see Spending,
///     equal       (delta_epoch - reserve) / K
///     by_history  (delta_epoch - reserve) / K * P(m, s) / worst
///         P(m, s) = 0.9 * 0.25^s 0.75^(m-s) + 0.1 * 0.03^s 0.97^(m-s)
/// and `worst` the largest sum of P(m, s) / K over the harmful candidates of any strategy, up to
/// the first that is certified: V(0, 0), where V(K, s) = 0 and
///     V(m, s) = V(m+1, s) + max(P(m, s) / K, V(m+1, s+1)).
/// A harmful candidate takes its charge, and the strategy goes on only where it is not certified; a
/// harmless one takes none, and it goes on after either answer. Theorem in ops/adr. In an epoch
/// without a reserve by_history charges delta_epoch / K * 2^-(s+1) / C(m, s).
double delta_of_run(const EpochOpened& epoch, uint32_t registrations, uint32_t certificates_before);

}  // namespace rampart::certification
