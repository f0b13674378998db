#include "gate_stores.hpp"

#include "rampart/certification/signer.hpp"
#include "rampart/registry/figures.hpp"
#include "rampart/registry/vault_export.hpp"

namespace rampart::retraining {
namespace {

using base::Result;
using base::TimePoint;

constexpr std::string_view kGate = "gate";

class BuilderRecords final : public gate::RecordSource {
  public:
    BuilderRecords(const training_set::TrainingSetBuilder& builder, const privacy::Register* list)
        : builder_(builder), list_(list) {}

    Result<training_set::VaultSet> vault_rows(TimePoint t,
                                              std::optional<TimePoint> from) const override {
        return builder_.vault_rows(t, from);
    }
    base::Status visit_vault(
        TimePoint t, const training_set::TrainingSetBuilder::VaultVisitor& visit) const override {
        return builder_.visit_vault(t, visit);
    }
    Result<training_set::ApplicantSet> applicants(TimePoint from, TimePoint to) const override {
        return builder_.applicants(from, to);
    }
    Result<std::vector<privacy::ErasedRecords>> erased() const override {
        if (list_ == nullptr) return std::vector<privacy::ErasedRecords>();
        return list_->erased();
    }

  private:
    const training_set::TrainingSetBuilder& builder_;
    const privacy::Register* list_;
};

class RegistryStore final : public gate::GateStore {
  public:
    RegistryStore(registry::ModelRegistry& registry, const base::SigningKey& key)
        : registry_(registry), key_(key) {}

    Result<std::vector<std::string>> ledger_entries() const override {
        return registry_.ledger_entries();
    }
    base::Status append_ledger_entries(uint64_t position, std::span<const std::string> added,
                                       TimePoint at) override {
        return registry_.append_ledger_entries(position, added, at, kGate);
    }
    Result<base::Digest> store_certificate(const certification::SealedCertificate& files,
                                           TimePoint at) override {
        const registry::Proof proof{files.certificate, files.evidence, key_.public_key()};
        return registry_.store_certificate(proof, at, kGate);
    }
    Result<std::vector<base::Digest>> certificate_ids(std::string_view candidate,
                                                      std::string_view reference) const override {
        RAMPART_TRY(const auto stored, registry_.certificates());
        std::vector<base::Digest> ids;
        for (const auto& one : stored) {
            if (one.candidate.value() == candidate && one.reference.value() == reference)
                ids.push_back(one.id);
        }
        return ids;
    }
    Result<std::string> certificate_file(const base::Digest& id) const override {
        return registry_.certificate_file(id);
    }
    base::VerifyingKey signer_of(std::string_view certificate,
                                 const base::VerifyingKey& current) const override {
        return certification::signer_among(certificate, registry_.verifying_keys(current));
    }
    Result<std::string> evidence_file(const base::Digest& id) const override {
        RAMPART_TRY(const auto stored, registry_.certificates());
        for (const auto& certificate : stored) {
            if (certificate.id == id && certificate.evidence)
                return registry_.evidence_file(*certificate.evidence);
        }
        return std::string();  // that of a refusal
    }
    Result<model::LoadedPolicy> load_model(const domain::PolicyId& id) const override {
        return registry_.load_model(id);
    }
    Result<std::optional<TimePoint>> exported_as_known_at() const override {
        return registry::vault_exported_as_known_at(registry_);
    }
    Result<std::optional<TimePoint>> figures_read_at(
        const std::optional<base::Digest>& before) const override {
        return registry::figures_read_at(registry_, before);
    }

  private:
    registry::ModelRegistry& registry_;
    const base::SigningKey& key_;
};

}  // namespace

std::unique_ptr<gate::RecordSource> records_of(const training_set::TrainingSetBuilder& builder,
                                               const privacy::Register* list) {
    return std::make_unique<BuilderRecords>(builder, list);
}

std::unique_ptr<gate::GateStore> gate_store_of(registry::ModelRegistry& registry,
                                               const base::SigningKey& key) {
    return std::make_unique<RegistryStore>(registry, key);
}

}  // namespace rampart::retraining
