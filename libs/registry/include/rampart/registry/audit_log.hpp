#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"

/// Append-only audit log: each entry contains the hash of the previous one.
///
/// Changing, removing, reordering or inserting an entry requires changing every later hash, and
/// with them the head. The head is therefore also stored outside the log (the registry has a file
/// for it; an auditor may keep a copy anywhere): a log that does not contain a previously recorded
/// head has been altered. Pure functions; the registry stores the bytes.
namespace rampart::registry {

struct AuditEntry {
    uint64_t sequence = 0;  // 1, 2, 3, ...
    base::TimePoint at;
    std::string actor;   // who requested it: a person or a service
    std::string action;  // "register_model", "bootstrap", "certify", "promote", "rollback", ...
    std::map<std::string, std::string> details;  // ids and digests; never a protected attribute
    base::Digest previous;                       // hash of the entry before; zero for the first
    base::Digest hash;                           // hash of everything above
    bool operator==(const AuditEntry&) const = default;
};

/// Head of a log: its length and last hash.
struct AuditHead {
    uint64_t count = 0;  // number of entries
    base::Digest hash;   // hash of the last entry; all zero for an empty log
    bool operator==(const AuditHead&) const = default;
};

/// Computes SHA-256 over the length-prefixed fields, all except `hash`.
base::Digest hash_of(const AuditEntry& entry);

/// Returns the entry that follows `head`. Fails if actor or action is empty or longer than
/// limits::kMaxNameBytes, or a detail is longer than limits::kMaxTextBytes, or one of them is not
/// UTF-8 (entries of earlier releases may have other bytes).
base::Result<AuditEntry> next_entry(const AuditHead& head, base::TimePoint at, std::string actor,
                                    std::string action, std::map<std::string, std::string> details);

AuditHead head_of(const AuditEntry& last);

/// Checks that sequence numbers have no gap, hashes and `previous` are right, and the log
/// contains the head `apart`: none of the entries that `apart` counts is missing or different.
/// The log may have grown since. Fails with data_loss "audit_edited", "audit_reordered",
/// "audit_truncated", naming the entry.
base::Status verify_chain(std::span<const AuditEntry> entries, const AuditHead& apart);

std::string encode(const AuditEntry& entry);
base::Result<AuditEntry> decode_audit_entry(std::string_view bytes);

/// Returns "<count> <64 hex digits>\n": the head as a readable file.
std::string to_text(const AuditHead& head);
base::Result<AuditHead> parse_audit_head(std::string_view text);

}  // namespace rampart::registry
