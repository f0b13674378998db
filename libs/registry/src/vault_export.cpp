#include "rampart/registry/vault_export.hpp"

#include <algorithm>

#include "rampart/base/limits.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {
namespace {

constexpr const char* kAction = "export_vault";
constexpr const char* kAsKnownAt = "as_known_at";

}  // namespace

base::Status record_vault_export(ModelRegistry& registry, const VaultExport& exported) {
    if (exported.reason.empty() || exported.reason.size() > base::limits::kMaxTextBytes) {
        return base::make_error(Reason::kReasonMissing,
                                "the reason for exporting the vault has {} bytes: give 1 to {}",
                                exported.reason.size(), base::limits::kMaxTextBytes);
    }
    return registry.record_operation(
        exported.now, exported.actor, kAction,
        {{kAsKnownAt, base::to_iso8601(exported.as_known_at)}, {"reason", exported.reason}});
}

base::Result<std::optional<base::TimePoint>> vault_exported_as_known_at(
    const ModelRegistry& registry) {
    std::optional<base::TimePoint> latest;
    RAMPART_TRY(const auto entries, registry.audit_entries());
    for (const auto& entry : entries) {
        if (entry.action != kAction) continue;
        const auto known = entry.details.find(kAsKnownAt);
        if (known == entry.details.end()) {
            return base::make_error(Reason::kAuditFormat, "entry {} has no {}", entry.sequence,
                                    kAsKnownAt);
        }
        RAMPART_TRY(const auto time, base::parse_iso8601(known->second));
        latest = std::max(latest.value_or(time), time);
    }
    return latest;
}

}  // namespace rampart::registry
