#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/registry/model_registry.hpp"

/// Entries of the audit log as people and programs read them, without what depends on outcomes of
/// the vault: a certificate has its public name, and digests of the ledger's entries are left out.
namespace rampart::registry {

inline constexpr size_t kDefaultAuditLimit = 100, kMostAuditLimit = 1000;

/// Which entries are asked for.
struct AuditRequest {
    std::string principal, action;  // as they are recorded; empty: any
    std::string object;             // the object, or any detail but the reason; empty: any
    std::optional<base::TimePoint> from, to;  // from <= at < to
    size_t limit = kDefaultAuditLimit;        // entries of a page, 1 to kMostAuditLimit
    uint64_t cursor = 0;                      // number of the entry behind which the page begins
};

/// Reads a request from the names and texts of its parts, as a query or a command line has them:
/// principal, action, object, from, to, limit, cursor. `prefix` is put before a name in errors.
/// Errors: invalid_argument "bad_number", "bad_time", "bad_usage", naming the part.
base::Result<AuditRequest> parse_audit_request(const std::map<std::string, std::string>& parts,
                                               std::string_view prefix);

/// An entry as it is shown, in UTF-8 (other bytes are shown as U+FFFD). Empty: the entry has none;
/// nothing is taken from elsewhere.
struct ShownEntry {
    uint64_t number = 0;
    base::TimePoint at;
    std::string principal, action;
    std::string object;         // what was acted on: a model, a decision, a person's tag, ...
    std::string before, after;  // the object's, where the action records both or one
    std::map<std::string, std::string> details;
    std::vector<std::string> withheld;  // names of details that `rampart audit export` alone has
};

/// Returns the entry without what depends on outcomes of the vault, in UTF-8: an earlier release
/// may have written other bytes. `names`: read after the entry.
ShownEntry shown(AuditEntry entry, const CertificateNames& names);

/// A page, in the order of the log.
struct AuditPage {
    std::vector<ShownEntry> entries;
    /// Cursor of the next page; nullopt: there is no further entry that fits now.
    std::optional<uint64_t> next;
};

/// Returns a page. Entries that are appended meanwhile come behind it: no entry is in two pages,
/// and none is passed over. Errors: those of the registry.
base::Result<AuditPage> read_audit_page(const ModelRegistry& registry, const AuditRequest& request);

/// Returns one entry; nullopt: there is none of this number. Errors: those of the registry.
base::Result<std::optional<ShownEntry>> read_audit_entry(const ModelRegistry& registry,
                                                         uint64_t number);

/// Returns it as one JSON object; GET /v1/audit answers a page's.
std::string to_json(const ShownEntry& entry);
std::string to_json(const AuditPage& page);

}  // namespace rampart::registry
