#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/certification/ledger_view.hpp"
#include "rampart/registry/model_registry.hpp"

/// Certificates by their public names, and their figures for those who audit the gate.
namespace rampart::registry {

/// Public names of the certificates in a registry: that of the run (certification::
/// certificate_name), and of a refusal, which no outcome of the vault has a part in, its digest.
/// The digest of any other certificate depends on outcomes of the vault: who may propose candidates
/// must not see it. A copy of the registry at that time.
class CertificateNames {
  public:
    static base::Result<CertificateNames> read(const ModelRegistry& registry);

    /// Returns the name; "unnamed": no run of this registry has such a certificate.
    std::string name_of(const base::Digest& certificate) const;
    /// Errors: not_found "unknown_certificate".
    base::Result<base::Digest> find(std::string_view name) const;

  private:
    CertificateNames(certification::LedgerView ledger, std::vector<CertificateInfo> all)
        : ledger_(std::move(ledger)), all_(std::move(all)) {}
    bool is_refusal(const base::Digest& certificate) const;

    certification::LedgerView ledger_;
    std::vector<CertificateInfo> all_;
};

/// Reader of a certificate's figures or of the ledger, for the audit log.
struct FigureReader {
    base::TimePoint at;
    std::string actor, reason;
};

struct Figures {
    base::Digest id;
    std::string certificate, evidence;  // bytes of the files; a refusal has no evidence
};

/// Returns the certificate with this public name. Who reads it is in the audit log
/// ("read_figures") before anything is returned. Errors: not_found "unknown_certificate",
/// invalid_argument "reason_missing"; those of the files.
base::Result<Figures> read_figures(ModelRegistry& registry, std::string_view name,
                                   const FigureReader& reader);

/// Returns the time of the latest reading of figures or of the ledger, as the audit log has it;
/// nullopt: there was none. `before`: digest of an entry of the ledger; only readings that the
/// audit log has before that entry count. Errors: ModelRegistry::audit_entries'.
base::Result<std::optional<base::TimePoint>> figures_read_at(
    const ModelRegistry& registry, const std::optional<base::Digest>& before = std::nullopt);

/// Returns the ledger's entries, whose digests and notes depend on outcomes of the vault. Who reads
/// them is in the audit log ("copy_ledger") before anything is returned. Errors: invalid_argument
/// "reason_missing"; ModelRegistry::ledger_entries()'s.
base::Result<std::vector<std::string>> read_ledger(ModelRegistry& registry,
                                                   const FigureReader& reader);

}  // namespace rampart::registry
