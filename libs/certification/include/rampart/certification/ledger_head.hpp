#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/certification/certificate_file.hpp"
#include "rampart/certification/delta_ledger.hpp"

namespace rampart::certification {

/// State of a ledger, and of the decision log beside it, in a few lines that are signed. Filed with
/// a witness it shows later that the ledger is still the one of then: a second ledger on the same
/// records does not continue it, nor does a log from which a decision was left out have its ends.
struct LedgerHead {
    uint64_t entries = 0;
    base::Digest head;  // DeltaLedger::head()
    uint32_t epoch = 0, runs_used = 0;
    base::TimePoint last_entry_at;  // time of the log, not of the machine
    base::TimePoint made_at;        // by the machine's clock
    std::vector<LogEnd> log;        // by partition; empty: a ledger without a store
    bool operator==(const LedgerHead&) const = default;
};

/// Returns the head of the ledger, without the log. Errors: failed_precondition "empty_ledger".
base::Result<LedgerHead> head_of(const DeltaLedger& ledger, base::TimePoint made_at);

/// Returns one line: a DSSE envelope, as a certificate's, of another payload type.
std::string sign_head(const LedgerHead& head, const base::SigningKey& key);
/// Errors: as read_certificate()'s; invalid_argument "other_format".
base::Result<LedgerHead> read_head(std::string_view bytes, const base::VerifyingKey& key);

/// Checks that the ledger continues the head: it has all entries of then, byte by byte. Errors:
/// failed_precondition "other_ledger".
base::Status check_continues(const DeltaLedger& ledger, const LedgerHead& head);

/// Checks that the ledger has the run of a certificate, and that it was closed with this
/// certificate. `bytes`: of the certificate's file. A refusal is in no ledger. Errors:
/// failed_precondition "not_in_ledger".
base::Status check_recorded(const DeltaLedger& ledger, const Certificate& certificate,
                            std::string_view bytes);

}  // namespace rampart::certification
