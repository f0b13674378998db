#pragma once

#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "certificate_check.hpp"
#include "document_store.hpp"
#include "rampart/base/limits.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/registry/reasons.hpp"
#include "registry_store.hpp"

namespace rampart::registry {

inline constexpr size_t kMaxEvidenceBytes = size_t{1} << 30;

/// What a registry holds open, and the checks that several of its changes share.
struct ModelRegistry::Impl {
    explicit Impl(const std::filesystem::path& folder)
        : models(folder / "models", "model",
                 {Reason::kModelSize, Reason::kUnknownModel, Reason::kModelDigest}, ".rmp",
                 base::limits::kMaxModelFileBytes),
          certificates(
              folder / "certificates", "certificate",
              {Reason::kCertificateSize, Reason::kUnknownCertificate, Reason::kCertificateDigest},
              ".cert", base::limits::kMaxCertificateBytes),
          evidence(folder / "evidence", "evidence",
                   {Reason::kEvidenceSize, Reason::kUnknownEvidence, Reason::kEvidenceDigest},
                   ".jsonl", kMaxEvidenceBytes) {}

    base::Result<std::string> file(const domain::PolicyId& id) const;
    base::Result<model::LoadedPolicy> load(const domain::PolicyId& id) const;
    base::Result<CertificateInfo> keep(const Proof& proof, const VerifiedCertificate& verified,
                                       base::TimePoint now);
    base::Result<std::vector<std::string>> ledger() const;
    base::Status check_closed(const VerifiedCertificate& verified) const;
    base::Status check_promotable(const domain::PolicyId& candidate,
                                  const VerifiedCertificate& verified, base::TimePoint now) const;
    base::Result<std::vector<CertificateInfo>> certificate_infos() const;
    /// As keep(); returns a batch with the record, if the registry does not have it yet.
    base::Result<storage::WriteBatch> keep_in_batch(const Proof& proof,
                                                    const VerifiedCertificate& verified,
                                                    base::TimePoint now);
    base::Result<std::optional<AssignmentPeriod>> check_arms(domain::Assignment& assignment,
                                                             base::TimePoint now) const;
    base::Result<VerifiedCertificate> check_challenger(
        const domain::PolicyId& policy, std::span<const VerifiedCertificate> certificates,
        base::TimePoint now) const;
    base::Result<PromotionProposal> draft(const domain::PolicyId& candidate,
                                          const VerifiedCertificate& verified,
                                          const ProposalTerms& terms, base::TimePoint at,
                                          std::string_view actor) const;
    base::Status carry_out(const PromotionProposal& proposal, base::TimePoint at,
                           std::string_view actor, std::optional<Recorded> approval);
    base::Result<uint32_t> current_epoch() const;
    base::Status end_lapsed(base::TimePoint now);
    base::Result<PromotionProposal> open_proposal(uint64_t number, const Judgement& by) const;
    base::Status check_approver(const PromotionProposal& proposal, const std::string& who) const;
    base::Status check_no_stop() const;
    base::Status check_promotion(const domain::PolicyId& candidate,
                                 const VerifiedCertificate& verified, base::TimePoint now) const;
    base::Result<base::Digest> evidence_of(const base::Digest& certificate) const;
    base::Status begin_stop(const Stop& stop, base::TimePoint at);
    base::Status end_stop(const Stop& stop, base::TimePoint at);

    DocumentStore models, certificates, evidence;
    std::unique_ptr<RegistryStore> store;
    mutable std::mutex mutex;  // guards store
};

}  // namespace rampart::registry
