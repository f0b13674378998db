#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rampart/base/signing.hpp"
#include "rampart/registry/audit_log.hpp"

/// The audit log for those who verify it: whether a store's is what was written, and a copy with a
/// signed head that others verify without Rampart.
namespace rampart::registry {

/// Where a log is not what was written.
struct AuditBreak {
    uint64_t entry = 0;  // the first that is missing, or does not follow from those before it
    base::Error error;   // what verify_chain() fails with
};

/// Returns the first break of the log, as verify_chain() checks it; nullopt: there is none.
std::optional<AuditBreak> first_break(std::span<const AuditEntry> entries, const AuditHead& apart);

/// What a check of a log found.
struct AuditCheck {
    uint64_t entries = 0;                   // that could be read, up to the break if it is one
    std::optional<AuditBreak> first_break;  // nullopt: the log is what was written
};

/// Reads the audit log of a registry's folder and compares it with audit.head and, where it is
/// given, with a head that was filed; a process may hold the registry open. Errors: those of
/// opening a database: not of a log that was changed.
base::Result<AuditCheck> check_audit_log(const std::filesystem::path& folder,
                                         const std::optional<AuditHead>& filed = std::nullopt);

/// Returns the log as JSON lines: each entry whole, and in the last line the signed head, a DSSE
/// envelope as a certificate's. `made_at`: by the machine's clock. It has digests of the ledger and
/// of certificates, which depend on outcomes of the vault: for auditors.
std::string export_audit_log(std::span<const AuditEntry> entries, base::TimePoint made_at,
                             const base::SigningKey& key);

/// Returns the head that an export ends with. `keys`: certification::read_keys. Errors: those of
/// certification::open_envelope; data_loss "truncated": it is no export, or is cut off.
base::Result<AuditHead> read_exported_head(std::string_view bytes,
                                           std::span<const base::VerifyingKey> keys);

}  // namespace rampart::registry
