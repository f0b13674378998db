#include "rampart/registry/audit_export.hpp"

#include <boost/json.hpp>

#include "rampart/base/reasons.hpp"
#include "rampart/certification/envelope.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/registry/reasons.hpp"
#include "registry_store.hpp"

namespace rampart::registry {
namespace {

namespace json = boost::json;
using base::Result;

constexpr std::string_view kFormat = "rampart-audit-head-1";
constexpr std::string_view kHeadType = "application/vnd.rampart.audit-head+json";

json::object object_of(const AuditEntry& entry) {
    json::object details;
    for (const auto& [name, value] : entry.details) details[name] = value;
    return {{"number", entry.sequence},      {"at", base::to_iso8601(entry.at)},
            {"principal", entry.actor},      {"action", entry.action},
            {"details", std::move(details)}, {"previous", entry.previous.hex()},
            {"hash", entry.hash.hex()}};
}

/// Reads entries up to the first that cannot be read.
Result<AuditCheck> read_all(const RegistryStore& store, std::vector<AuditEntry>& entries) {
    std::optional<AuditBreak> found;
    RAMPART_RETURN_IF_ERROR(store.database().scan(
        RegistryStore::kAudit, storage::KeyRange::all(),
        [&](std::string_view at, std::string_view value) -> Result<bool> {
            auto entry = decode_audit_entry(value);
            const uint64_t place = entries.size() + 1;
            if (!entry) {
                found = AuditBreak{
                    place, entry.error().with_context(fmt::format("audit log: entry {}", place))};
            } else if (at != RegistryStore::key(entry->sequence)) {
                found = AuditBreak{place,
                                   base::make_error(Reason::kAuditReordered,
                                                    "audit log: entry {} is at the wrong position",
                                                    entry->sequence)};
            } else {
                entries.push_back(*std::move(entry));
            }
            return !found;
        }));
    return AuditCheck{entries.size(), std::move(found)};
}

base::Error no_export() {
    return base::make_error(base::Reason::kTruncated,
                            "it is no export of `rampart audit export`, or is cut off: its last "
                            "line is no signed head");
}

}  // namespace

Result<AuditCheck> check_audit_log(const std::filesystem::path& folder,
                                   const std::optional<AuditHead>& filed) {
    // before the log: a node that is at work may append meanwhile
    const auto apart = RegistryStore::read_head_file(folder);
    const bool lacks = !apart && apart.error().code == base::ErrorCode::kNotFound;
    if (!apart && !lacks && !apart.error().is(Reason::kAuditHead)) return apart.error();
    RAMPART_TRY(const auto store, RegistryStore::open_unchecked(folder));
    std::vector<AuditEntry> entries;
    RAMPART_TRY(auto check, read_all(*store, entries));
    const auto compare = [&](const AuditHead& head) {
        if (auto found = first_break(entries, head);
            found && (!check.first_break || found->entry < check.first_break->entry))
            check.first_break = std::move(found);
    };
    compare(apart.value_or(AuditHead{}));
    if (filed) compare(*filed);
    // what was cut off behind the last entry cannot be known
    if (!apart && !check.first_break && (!lacks || !entries.empty()))
        check.first_break =
            AuditBreak{entries.size() + 1,
                       base::make_error(Reason::kAuditHead,
                                        "audit log: audit.head is {}, so that entries may be cut "
                                        "off behind entry {}: restore it from a copy",
                                        lacks ? "missing" : "damaged", entries.size())};
    return check;
}

std::string export_audit_log(std::span<const AuditEntry> entries, base::TimePoint made_at,
                             const base::SigningKey& key) {
    std::string out;
    for (const auto& entry : entries) out += json::serialize(object_of(entry)) + '\n';
    const auto head = entries.empty() ? AuditHead{} : head_of(entries.back());
    const json::object payload{{"format", kFormat},
                               {"entries", head.count},
                               {"hash", head.hash.hex()},
                               {"made_at", base::to_iso8601(made_at)}};
    return out + certification::sign_envelope(kHeadType, json::serialize(payload), key) + '\n';
}

Result<AuditHead> read_exported_head(std::string_view bytes,
                                     std::span<const base::VerifyingKey> keys) {
    if (!bytes.ends_with('\n')) return no_export();
    bytes.remove_suffix(1);
    const auto line = bytes.substr(bytes.rfind('\n') + 1);  // npos + 1 is 0
    if (line.find("\"payloadType\"") == line.npos) return no_export();
    RAMPART_TRY(const auto payload, certification::open_envelope(
                                        kHeadType, line, certification::signer_among(line, keys)));
    boost::system::error_code failure;
    const auto value = json::parse(payload, failure);
    const auto* object = failure ? nullptr : value.if_object();
    const auto* format = object ? object->if_contains("format") : nullptr;
    const auto* count = object ? object->if_contains("entries") : nullptr;
    const auto* hash = object ? object->if_contains("hash") : nullptr;
    const bool ours = format && format->is_string() && format->as_string() == kFormat && count &&
                      count->is_int64() && hash && hash->is_string();
    if (!ours) return no_export();
    RAMPART_TRY(const auto digest, base::Digest::from_hex(std::string(hash->as_string())));
    return AuditHead{count->to_number<uint64_t>(), digest};
}

}  // namespace rampart::registry
