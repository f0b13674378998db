#include "rampart/registry/figures.hpp"

#include <algorithm>

#include "rampart/base/limits.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {

using base::Digest;
using base::Result;

Result<CertificateNames> CertificateNames::read(const ModelRegistry& registry) {
    RAMPART_TRY(const auto entries, registry.ledger_entries());
    RAMPART_TRY(const auto ledger, certification::DeltaLedger::open(entries));
    RAMPART_TRY(auto view, certification::LedgerView::of(ledger));
    RAMPART_TRY(auto all, registry.certificates());
    return CertificateNames(std::move(view), std::move(all));
}

bool CertificateNames::is_refusal(const Digest& certificate) const {
    return std::any_of(all_.begin(), all_.end(), [&](const CertificateInfo& info) {
        return info.id == certificate && !info.evidence;
    });
}

std::string CertificateNames::name_of(const Digest& certificate) const {
    if (is_refusal(certificate)) return certificate.hex();
    return ledger_.name_of(certificate.hex()).value_or("unnamed");
}

Result<Digest> CertificateNames::find(std::string_view name) const {
    if (const auto digest = ledger_.certificate_named(name)) return Digest::from_hex(*digest);
    const auto digest = Digest::from_hex(name);
    if (digest && is_refusal(*digest)) return *digest;
    return base::make_error(Reason::kUnknownCertificate,
                            "no run of this registry has a certificate '{}'; `rampart models` and "
                            "GET /v1/runs show the names, such as e2r6",
                            name);
}

namespace {

constexpr const char *kReadFigures = "read_figures", *kCopyLedger = "copy_ledger";
constexpr const char* kLedgerAction = "ledger";  // as append_ledger_entries() has it

/// Returns whether it is the storing of this entry of the ledger, alone or with others.
bool stores_ledger_entry(const AuditEntry& audit, const Digest& entry) {
    return audit.action == kLedgerAction &&
           std::any_of(audit.details.begin(), audit.details.end(), [&](const auto& detail) {
               return detail.first.starts_with("entry") && detail.second == entry.hex();
           });
}

base::Status check_reason(const FigureReader& reader, std::string_view what) {
    if (!reader.reason.empty() && reader.reason.size() <= base::limits::kMaxTextBytes)
        return base::ok();
    return base::make_error(Reason::kReasonMissing,
                            "the reason for reading {} has {} bytes: give 1 to {}", what,
                            reader.reason.size(), base::limits::kMaxTextBytes);
}

}  // namespace

Result<Figures> read_figures(ModelRegistry& registry, std::string_view name,
                             const FigureReader& reader) {
    RAMPART_RETURN_IF_ERROR(check_reason(reader, "a certificate"));
    RAMPART_TRY(const auto names, CertificateNames::read(registry));
    RAMPART_TRY(const Digest id, names.find(name));
    RAMPART_RETURN_IF_ERROR(
        registry.record_operation(reader.at, reader.actor, kReadFigures,
                                  {{"certificate", id.hex()}, {"reason", reader.reason}}));
    Figures figures{id, "", ""};
    RAMPART_TRY(figures.certificate, registry.certificate_file(id));
    RAMPART_TRY(const auto all, registry.certificates());
    for (const auto& info : all) {
        if (info.id != id || !info.evidence) continue;
        RAMPART_TRY(figures.evidence, registry.evidence_file(*info.evidence));
    }
    return figures;
}

Result<std::vector<std::string>> read_ledger(ModelRegistry& registry, const FigureReader& reader) {
    RAMPART_RETURN_IF_ERROR(check_reason(reader, "the ledger"));
    RAMPART_RETURN_IF_ERROR(registry.record_operation(reader.at, reader.actor, kCopyLedger,
                                                      {{"reason", reader.reason}}));
    return registry.ledger_entries();
}

Result<std::optional<base::TimePoint>> figures_read_at(const ModelRegistry& registry,
                                                       const std::optional<Digest>& before) {
    std::optional<base::TimePoint> latest;
    RAMPART_TRY(const auto entries, registry.audit_entries());
    for (const auto& entry : entries) {
        if (before && stores_ledger_entry(entry, *before)) break;
        if (entry.action == kReadFigures || entry.action == kCopyLedger)
            latest = std::max(latest, std::optional(entry.at));
    }
    return latest;
}

}  // namespace rampart::registry
