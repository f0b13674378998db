#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"

/// The audit log: entries that are only ever appended, each holding the hash of the one before it.
///
/// Whoever changes, drops, swaps or adds an entry must change every hash after it, and with them
/// the head. The head is therefore also kept apart from the log (the registry keeps it in a file of
/// its own; an auditor may keep a copy anywhere): a log that does not run through a head that was
/// seen is not the log that was seen. Pure functions; the registry stores the bytes.
namespace rampart::registry {

struct AuditEntry {
    uint64_t sequence = 0;  // 1, 2, 3, ...
    base::TimePoint at;
    std::string actor;   // who asked: a person or a service
    std::string action;  // "register_model", "bootstrap", "certify", "promote", "rollback", ...
    std::map<std::string, std::string> details;  // ids and digests; never a protected attribute
    base::Digest previous;                       // hash of the entry before; all zero for the first
    base::Digest hash;                           // of everything above
    bool operator==(const AuditEntry&) const = default;
};

/// The end of a log.
struct AuditHead {
    uint64_t count = 0;  // entries up to here
    base::Digest hash;   // of the last of them; all zero when there is none
    bool operator==(const AuditHead&) const = default;
};

/// SHA-256 over the length-prefixed fields, all but `hash`.
base::Digest hash_of(const AuditEntry& entry);

/// The entry that follows `head`. Error: actor or action empty or past limits::kMaxNameBytes, a
/// detail past limits::kMaxTextBytes.
base::Result<AuditEntry> next_entry(const AuditHead& head, base::TimePoint at, std::string actor,
                                    std::string action, std::map<std::string, std::string> details);

AuditHead head_of(const AuditEntry& last);

/// Sequence numbers without a gap, hashes right, each `previous` the hash before, and the log
/// running through `apart`: no entry of those that `apart` counted is gone or other. The log may
/// have grown since. data_loss: "audit_edited", "audit_reordered", "audit_truncated", naming the
/// entry.
base::Status verify_chain(std::span<const AuditEntry> entries, const AuditHead& apart);

std::string encode(const AuditEntry& entry);
base::Result<AuditEntry> decode_audit_entry(std::string_view bytes);

/// "<count> <64 hex digits>\n": the head as a file that a person can read.
std::string to_text(const AuditHead& head);
base::Result<AuditHead> parse_audit_head(std::string_view text);

}  // namespace rampart::registry
