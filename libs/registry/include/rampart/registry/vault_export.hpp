#pragma once

#include <optional>
#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/registry/model_registry.hpp"

/// Exports of the vault with its outcomes, as the audit log has them: their records count as read.
namespace rampart::registry {

struct VaultExport {
    base::TimePoint as_known_at;  // time of what is known in the export
    base::TimePoint now;
    std::string actor, reason;
};

/// Puts the export into the audit log ("export_vault"), durably; to be called before a byte of it
/// leaves. Errors: invalid_argument "reason_missing"; ModelRegistry::record_operation's.
base::Status record_vault_export(ModelRegistry& registry, const VaultExport& exported);

/// Returns the latest `as_known_at` of all exports; nullopt: there was none. Errors: data_loss
/// "audit_format" for an entry without that time; ModelRegistry::audit_entries'.
base::Result<std::optional<base::TimePoint>> vault_exported_as_known_at(
    const ModelRegistry& registry);

}  // namespace rampart::registry
