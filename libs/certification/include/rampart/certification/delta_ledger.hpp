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

/// Names the secrets behind a vault without giving them away. Another `split` is another vault.
struct KeyIds {
    std::string draw, evidence, signing, split;
    bool operator==(const KeyIds&) const = default;
};

/// A budget is declared: `runs` runs share delta_epoch.
struct EpochOpened {
    uint32_t epoch = 0;  // 1, 2, …
    double delta_epoch = 0;
    uint32_t runs = 0;
    Spending spending = Spending::kEqual;
    /// kByHistory counts further looks among the registrations; false: opened before it did, its
    /// budget is proven only while no run is looked at again.
    bool counts_looks = false;
    std::string note;    // why it was opened
    base::TimePoint at;  // not before any entry in front of it
    KeyIds keys{};       // empty: of an epoch from before they were written down
};

/// A run is charged. Written durably before an impact of the vault is read.
///
/// A further look is the same run again on the records that have matured since: the same candidate
/// against the same reference with the same centres and bets. The wealth of fixed bets holds at all
/// looks together (Ville), so that it costs nothing. Its answer may steer later candidates, so that
/// kByHistory counts it among the registrations.
struct Registration {
    uint32_t epoch = 0, run = 0;  // run k = 1 … K
    double delta = 0;             // delta_k, charged
    double spent_before = 0;      // sum of the epoch's earlier charges
    std::string candidate_id, reference_id;
    base::Digest plan;       // of the run's plan: settings, centres, bets, groups, vault records
    std::string vault_rule;  // which records make the snapshot, so that it can be read again
    base::TimePoint at;
    uint32_t look = 0;      // 0: the first, charged; 1, 2, …: further ones
    base::Digest frozen{};  // of what is the same at every look
};

/// A run is over. Whatever the verdict, its charge stays.
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

/// One line of JSON without the newline; the bytes are what is stored, hashed and chained.
std::string encode(const LedgerEntry& entry);
/// Errors: data_loss for anything that `encode` would not have written.
base::Result<LedgerEntry> decode_ledger_entry(std::string_view bytes);

/// Leave to read the vault's impacts, once, for one registered run. Only a ledger gives it out.
class RunTicket {
  public:
    const Registration& registration() const { return registration_; }
    const EpochOpened& epoch() const { return epoch_; }
    const std::string& entry() const { return entry_; }  // the registration's bytes
    unsigned certificates_before() const { return certificates_before_; }  // in this epoch
    unsigned looks_before() const { return looks_before_; }                // that the epoch counts

  private:
    friend class DeltaLedger;
    RunTicket() = default;
    Registration registration_;
    EpochOpened epoch_;
    std::string entry_;
    unsigned certificates_before_ = 0;
    unsigned looks_before_ = 0;
};

/// The account of an error budget: append-only, hash-chained, K runs an epoch, one run at a time.
///
/// Pure: next_*() makes the bytes of an entry, the caller stores them durably, then append()s the
/// same bytes. What was stored but not appended is found by open() after a crash. A run that is
/// registered and not closed stays charged and can be taken up again (`open_run`, `ticket`) for the
/// same plan without another charge. Not thread safe: whoever owns the store serialises.
class DeltaLedger {
  public:
    /// Replays stored entries, oldest first. Errors: data_loss naming the entry where the chain,
    /// the encoding or a rule breaks.
    static base::Result<DeltaLedger> open(const std::vector<std::string>& entries);

    /// Errors: failed_precondition while a run is open; invalid_argument for a bad budget, or a
    /// time before that of an entry ("time_goes_back").
    base::Result<std::string> next_epoch(double delta_epoch, uint32_t runs, Spending spending,
                                         std::string note, base::TimePoint at,
                                         KeyIds keys = {}) const;

    /// delta of the open run or, if none is open, of the next. Errors: failed_precondition before
    /// the first epoch; resource_exhausted ("delta_spent") when the epoch's runs are spent.
    base::Result<double> next_delta() const;

    struct RunRequest {
        std::string candidate_id, reference_id;
        base::Digest plan;
        std::string vault_rule;
        uint32_t look = 0;
        base::Digest frozen{};
    };
    /// The last registration of a run of this epoch that did not pass, is closed with a certificate
    /// and was about this candidate and reference: what may be looked at again. nullptr: none.
    const Registration* closed_run(std::string_view candidate_id,
                                   std::string_view reference_id) const;

    /// Errors: as next_delta; failed_precondition ("run_open") while a run is open. Of a further
    /// look: failed_precondition "no_earlier_look" unless closed_run() has the same `frozen`.
    base::Result<std::string> next_registration(const RunRequest& request,
                                                base::TimePoint at) const;

    /// Closes the open run. Errors: failed_precondition when none is; invalid_argument for a
    /// verdict other than CERTIFIED and NO_SOLUTION_FOUND.
    base::Result<std::string> next_closing(Verdict verdict, std::string certificate,
                                           std::string note, base::TimePoint at) const;

    /// Takes in an entry that is stored. Errors: data_loss when it doesn't continue the chain or
    /// breaks a rule of the ledger; the ledger is then unchanged.
    base::Status append(std::string_view bytes);

    const std::optional<Registration>& open_run() const { return open_run_; }

    /// Leave for the open run. Errors: failed_precondition when no run is open, or when the open
    /// one was registered for another plan or candidate ("other_run_open": finish it or close it
    /// first).
    base::Result<RunTicket> ticket(const RunRequest& request) const;

    /// The current epoch and its budget; empty before the first.
    const std::optional<EpochOpened>& current() const { return epoch_; }
    uint32_t epoch() const { return epoch_ ? epoch_->epoch : 0; }
    uint32_t runs_used() const { return static_cast<uint32_t>(runs_.size()); }  // in this epoch
    uint32_t looks_counted() const { return looks_; }  // in this epoch, in the place of runs
    uint32_t runs_left() const;
    double spent() const { return spent_; }  // of the current epoch
    const std::vector<std::string>& entries() const { return entries_; }
    base::Digest head() const;  // digest of the last entry

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
    /// A run of the epoch, by its last look.
    struct Run {
        Registration last;
        unsigned certificates_before = 0, looks_before = 0;  // when it was first registered
        std::optional<Closing> closing;
    };
    std::vector<Run> runs_;
    uint32_t certificates_ = 0, looks_ = 0;
    double spent_ = 0;
    base::TimePoint latest_ = base::TimePoint::from_micros(INT64_MIN);  // of all entries' times
};

/// The charge of a run in an epoch of K = `runs`, registered after `registrations` first and
/// further looks of which s = `certificates_before` were certified. See Spending.
double delta_of_run(double delta_epoch, uint32_t runs, Spending spending, uint32_t registrations,
                    uint32_t certificates_before);

}  // namespace rampart::certification
