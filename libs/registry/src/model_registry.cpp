#include "rampart/registry/model_registry.hpp"

#include <algorithm>
#include <set>

#include "rampart/base/limits.hpp"
#include "rampart/certification/ledger_view.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "rampart/registry/reasons.hpp"
#include "records.hpp"
#include "registry_impl.hpp"

namespace rampart::registry {
namespace {

/// Actions of the audit log whose model and certificate are stored here.
const std::set<std::string_view> kWithDocuments{"register_model", "certify", "bootstrap", "promote",
                                                "rollback"};

}  // namespace

base::Result<std::string> ModelRegistry::Impl::file(const domain::PolicyId& id) const {
    RAMPART_TRY(const auto known, store->database().get(RegistryStore::kModels, id.value()));
    if (!known) {
        return base::make_error(Reason::kUnknownModel,
                                "model {} is not registered: register its file first", id);
    }
    RAMPART_TRY(const auto digest, base::Digest::from_hex(id.value()));
    return models.get(digest);
}

base::Result<model::LoadedPolicy> ModelRegistry::Impl::load(const domain::PolicyId& id) const {
    RAMPART_TRY(const auto bytes, file(id));
    RAMPART_TRY(auto policy, model::decode_model_file(bytes));
    return model::LoadedPolicy{std::move(policy), id};
}

/// Writes the files; returns the record, which the caller stores.
base::Result<CertificateInfo> ModelRegistry::Impl::keep(const Proof& proof,
                                                        const VerifiedCertificate& verified,
                                                        base::TimePoint now) {
    CertificateInfo info{.id = verified.id,
                         .candidate = verified.candidate,
                         .reference = verified.reference,
                         .verdict = verified.verdict,
                         .evidence = std::nullopt,
                         .stored_at = now,
                         .valid_until = verified.valid_until};
    RAMPART_RETURN_IF_ERROR(certificates.put(proof.certificate));
    if (!proof.evidence.empty()) {
        RAMPART_TRY(info.evidence, evidence.put(proof.evidence));
    }
    return info;
}

base::Result<storage::WriteBatch> ModelRegistry::Impl::keep_in_batch(
    const Proof& proof, const VerifiedCertificate& verified, base::TimePoint now) {
    RAMPART_TRY(const auto info, keep(proof, verified, now));
    storage::WriteBatch batch;
    RAMPART_TRY(const auto known,
                store->database().get(RegistryStore::kCertificates, verified.id.hex()));
    if (!known) batch.put(RegistryStore::kCertificates, verified.id.hex(), encode(info));
    return batch;
}

base::Result<std::vector<std::string>> ModelRegistry::Impl::ledger() const {
    std::vector<std::string> entries;
    RAMPART_RETURN_IF_ERROR(store->database().scan(
        RegistryStore::kLedger, storage::KeyRange::all(),
        [&](std::string_view at, std::string_view value) -> base::Result<bool> {
            if (at != RegistryStore::key(entries.size())) {
                return base::make_error(Reason::kLedgerGap,
                                        "the ledger's entry {} is missing: restore the registry "
                                        "from a copy",
                                        entries.size());
            }
            entries.emplace_back(value);
            return true;
        }));
    return entries;
}

/// Checks that the ledger has the run's charge, and closed the run with this certificate.
base::Status ModelRegistry::Impl::check_closed(const VerifiedCertificate& verified) const {
    RAMPART_TRY(const auto entries, ledger());
    const auto& charge = verified.charge;
    if (!charge || charge->position >= entries.size() ||
        base::sha256(entries[charge->position]) != charge->entry) {
        return base::make_error(Reason::kUncharged,
                                "the certificate's run is not in this registry's ledger: a "
                                "certificate is valid only where its run was charged");
    }
    RAMPART_TRY(const auto checked, certification::DeltaLedger::open(entries));
    RAMPART_TRY(const auto history, certification::LedgerView::of(checked));
    const auto* run = history.closed_with(verified.id.hex());
    if (run != nullptr && run->closing->verdict == certification::Verdict::kCertified)
        return base::ok();
    return base::make_error(Reason::kUnclosed,
                            "no run of this registry's ledger is closed with certificate {}: it "
                            "permits a promotion only after its run has ended",
                            verified.id.hex());
}

base::Status ModelRegistry::Impl::check_promotable(const domain::PolicyId& candidate,
                                                   const VerifiedCertificate& verified,
                                                   base::TimePoint now) const {
    if (!verified.certified) {
        return base::make_error(
            Reason::kNotCertified,
            "the certificate's verdict is {}: only CERTIFIED permits a promotion",
            verified.verdict);
    }
    if (verified.candidate != candidate) {
        return base::make_error(Reason::kOtherModel, "the certificate is for model {}, not for {}",
                                verified.candidate, candidate);
    }
    const auto& promotions = store->promotions();
    const auto* current = promotions.current();
    if (current == nullptr) {
        return base::make_error(Reason::kNoChampion,
                                "there is no champion yet: declare the first policy");
    }
    if (verified.reference != current->policy) {
        return base::make_error(
            Reason::kStaleReference,
            "the certificate compares with {}, but the champion is {}: certify the "
            "candidate against the champion",
            verified.reference, current->policy);
    }
    if (const auto* used = promotions.used(verified.id)) {
        return base::make_error(Reason::kCertificateSpent,
                                "the certificate was used for promotion {}, which was rolled back "
                                "since: certify the candidate anew",
                                used->sequence);
    }
    if (verified.valid_until && now >= *verified.valid_until) {
        return base::make_error(
            Reason::kCertificateExpired,
            "the certificate expired at {}, and it is {}: certify the candidate "
            "anew, against the champion, on later decisions",
            base::to_iso8601(*verified.valid_until), base::to_iso8601(now));
    }
    return check_closed(verified);
}

ModelRegistry::ModelRegistry(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ModelRegistry::~ModelRegistry() = default;

base::Result<std::unique_ptr<ModelRegistry>> ModelRegistry::open(
    const std::filesystem::path& folder, Mode mode) {
    auto impl = std::make_unique<Impl>(folder);
    if (mode == Mode::kReadWrite) {
        RAMPART_RETURN_IF_ERROR(impl->models.create_folder());
        RAMPART_RETURN_IF_ERROR(impl->certificates.create_folder());
        RAMPART_RETURN_IF_ERROR(impl->evidence.create_folder());
    }
    RAMPART_TRY(impl->store, RegistryStore::open(folder, mode == Mode::kReadOnly));
    return std::unique_ptr<ModelRegistry>(new ModelRegistry(std::move(impl)));
}

base::Result<domain::PolicyId> ModelRegistry::register_model(std::string_view model_file,
                                                             base::TimePoint now,
                                                             std::string_view actor) {
    RAMPART_TRY(const auto policy, model::decode_model_file(model_file));
    const auto id = model::policy_id_of(model_file);
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const auto known, impl_->store->database().get(RegistryStore::kModels, id.value()));
    if (!known) RAMPART_RETURN_IF_ERROR(decision::check_explained(policy));
    RAMPART_RETURN_IF_ERROR(impl_->models.put(model_file));
    if (known) return id;
    storage::WriteBatch batch;
    batch.put(RegistryStore::kModels, id.value(),
              encode(ModelInfo{id, now, std::string(actor), model_file.size()}));
    RAMPART_RETURN_IF_ERROR(impl_->store->commit(std::move(batch), now, actor, "register_model",
                                                 {{"model", id.value()}}));
    return id;
}

base::Result<model::LoadedPolicy> ModelRegistry::load_model(const domain::PolicyId& id) const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->load(id);
}

base::Result<std::string> ModelRegistry::model_file(const domain::PolicyId& id) const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->file(id);
}

base::Result<std::vector<ModelInfo>> ModelRegistry::models() const {
    const std::lock_guard lock(impl_->mutex);
    std::vector<ModelInfo> all;
    RAMPART_RETURN_IF_ERROR(impl_->store->database().scan(
        RegistryStore::kModels, storage::KeyRange::all(),
        [&](std::string_view id, std::string_view value) -> base::Result<bool> {
            RAMPART_TRY(auto info, decode_model_info(id, value));
            all.push_back(std::move(info));
            return true;
        }));
    std::stable_sort(all.begin(), all.end(), [](const ModelInfo& a, const ModelInfo& b) {
        return a.registered_at < b.registered_at;
    });
    return all;
}

base::Result<base::Digest> ModelRegistry::store_certificate(const Proof& proof, base::TimePoint now,
                                                            std::string_view actor) {
    RAMPART_TRY(const auto verified, verify_certificate(proof));
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const auto info, impl_->keep(proof, verified, now));
    RAMPART_TRY(const auto known,
                impl_->store->database().get(RegistryStore::kCertificates, verified.id.hex()));
    if (known) return verified.id;
    storage::WriteBatch batch;
    batch.put(RegistryStore::kCertificates, verified.id.hex(), encode(info));
    RAMPART_RETURN_IF_ERROR(impl_->store->commit(std::move(batch), now, actor, "certify",
                                                 {{"certificate", verified.id.hex()},
                                                  {"candidate", verified.candidate.value()},
                                                  {"reference", verified.reference.value()},
                                                  {"verdict", verified.verdict}}));
    return verified.id;
}

base::Result<std::string> ModelRegistry::certificate_file(const base::Digest& id) const {
    return impl_->certificates.get(id);
}

base::Result<std::string> ModelRegistry::evidence_file(const base::Digest& evidence) const {
    return impl_->evidence.get(evidence);
}

base::Result<std::vector<CertificateInfo>> ModelRegistry::certificates() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->certificate_infos();
}

base::Result<std::optional<base::TimePoint>> ModelRegistry::champion_certified_until() const {
    const std::lock_guard lock(impl_->mutex);
    const auto* current = impl_->store->promotions().current();
    if (current == nullptr || !current->certificate) return std::optional<base::TimePoint>();
    const auto id = current->certificate->hex();
    RAMPART_TRY(const auto bytes, impl_->store->database().get(RegistryStore::kCertificates, id));
    if (!bytes) return std::optional<base::TimePoint>();
    return decode_certificate_info(id, *bytes).map([](const auto& info) {
        return info.valid_until;
    });
}

base::Result<std::vector<CertificateInfo>> ModelRegistry::Impl::certificate_infos() const {
    std::vector<CertificateInfo> all;
    RAMPART_RETURN_IF_ERROR(store->database().scan(
        RegistryStore::kCertificates, storage::KeyRange::all(),
        [&](std::string_view id, std::string_view value) -> base::Result<bool> {
            RAMPART_TRY(auto info, decode_certificate_info(id, value));
            all.push_back(std::move(info));
            return true;
        }));
    std::stable_sort(all.begin(), all.end(),
                     [](const CertificateInfo& a, const CertificateInfo& b) {
                         return a.stored_at < b.stored_at;
                     });
    return all;
}

base::Result<std::map<std::string, base::Digest>> ModelRegistry::documents() const {
    std::map<std::string, base::Digest> all;
    const auto add = [&](const DocumentStore& store, const std::string& hex) -> base::Status {
        RAMPART_TRY(const auto id, base::Digest::from_hex(hex));
        all.emplace(store.name_of(id), id);
        return base::ok();
    };
    RAMPART_TRY(const auto registered, models());
    for (const auto& model : registered) {
        RAMPART_RETURN_IF_ERROR(add(impl_->models, model.id.value()));
    }
    RAMPART_TRY(const auto kept, certificates());
    for (const auto& certificate : kept) {
        all.emplace(impl_->certificates.name_of(certificate.id), certificate.id);
        if (!certificate.evidence) continue;
        all.emplace(impl_->evidence.name_of(*certificate.evidence), *certificate.evidence);
    }
    RAMPART_TRY(const auto entries, audit_entries());
    for (const auto& entry : entries) {
        if (!kWithDocuments.contains(entry.action)) continue;
        for (const auto& [what, hex] : entry.details) {
            if (what == "model") RAMPART_RETURN_IF_ERROR(add(impl_->models, hex));
            if (what == "certificate") RAMPART_RETURN_IF_ERROR(add(impl_->certificates, hex));
        }
    }
    return all;
}

base::Status ModelRegistry::append_ledger_entries(uint64_t position,
                                                  std::span<const std::string> added,
                                                  base::TimePoint now, std::string_view actor) {
    for (const auto& entry : added) {
        if (!entry.empty() && entry.size() <= base::limits::kMaxRecordBytes) continue;
        return base::make_error(Reason::kLedgerEntry,
                                "a ledger entry has {} bytes: 1 to {} are kept", entry.size(),
                                base::limits::kMaxRecordBytes);
    }
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const auto entries, impl_->ledger());
    const bool there =
        position + added.size() <= entries.size() &&
        std::equal(added.begin(), added.end(), entries.begin() + static_cast<ptrdiff_t>(position));
    if (there) return base::ok();
    if (position != entries.size()) {
        return base::make_error(
            Reason::kLedgerMovedOn,
            "the ledger has {} entries, entry {} cannot be written: another run "
            "came first, read the ledger again",
            entries.size(), position);
    }
    storage::WriteBatch batch;
    std::map<std::string, std::string> details;
    for (const auto& entry : added) {
        const std::string further = details.empty() ? "" : fmt::format("_{}", position);
        details["position" + further] = std::to_string(position);
        details["entry" + further] = base::sha256(entry).hex();
        batch.put(RegistryStore::kLedger, RegistryStore::key(position++), entry);
    }
    return impl_->store->commit(std::move(batch), now, actor, "ledger", std::move(details));
}

base::Result<std::vector<std::string>> ModelRegistry::ledger_entries() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->ledger();
}

base::Result<Promotion> ModelRegistry::bootstrap_champion(const domain::PolicyId& policy,
                                                          base::TimePoint now,
                                                          std::string_view actor) {
    const std::lock_guard lock(impl_->mutex);
    const auto& entries = impl_->store->promotions().entries();
    if (!entries.empty()) {
        if (entries.front().policy == policy) return entries.front();
        return base::make_error(Reason::kChampionExists,
                                "the first policy was {}: a later one needs a certificate",
                                entries.front().policy);
    }
    RAMPART_TRY(const auto loaded, impl_->load(policy));
    if (loaded.policy.last_learned() != nullptr) {
        return base::make_error(
            Reason::kNotABootstrap,
            "model {} is learned: only a declared rule with known probabilities may "
            "decide without a certificate",
            policy);
    }
    const Promotion promotion{.sequence = 1,
                              .kind = PromotionKind::kBootstrap,
                              .policy = policy,
                              .replaced = std::nullopt,
                              .certificate = std::nullopt,
                              .at = now,
                              .actor = std::string(actor),
                              .reason = ""};
    RAMPART_RETURN_IF_ERROR(impl_->store->commit({}, promotion));
    return promotion;
}

base::Result<Promotion> ModelRegistry::promote(const domain::PolicyId& candidate,
                                               const Proof& proof, base::TimePoint now,
                                               std::string_view actor) {
    RAMPART_TRY(const auto verified, verify_certificate(proof));
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const auto loaded, impl_->load(candidate));  // registered, and undamaged
    const auto* current = impl_->store->promotions().current();
    if (current != nullptr && current->certificate == verified.id && current->policy == candidate) {
        return *current;
    }
    RAMPART_RETURN_IF_ERROR(impl_->check_promotable(candidate, verified, now));
    RAMPART_RETURN_IF_ERROR(decision::check_explained(loaded.policy));  // earlier releases did not
    RAMPART_TRY(auto batch, impl_->keep_in_batch(proof, verified, now));
    const Promotion promotion{.sequence = current->sequence + 1,
                              .kind = PromotionKind::kPromotion,
                              .policy = candidate,
                              .replaced = current->policy,
                              .certificate = verified.id,
                              .at = now,
                              .actor = std::string(actor),
                              .reason = ""};
    RAMPART_RETURN_IF_ERROR(impl_->store->commit(std::move(batch), promotion));
    return promotion;
}

base::Result<Promotion> ModelRegistry::rollback(base::TimePoint now, std::string_view actor,
                                                std::string_view reason,
                                                const std::optional<domain::PolicyId>& from) {
    if (reason.empty() || reason.size() > base::limits::kMaxTextBytes) {
        return base::make_error(Reason::kReasonMissing,
                                "a rollback's reason has {} bytes: give 1 to {}", reason.size(),
                                base::limits::kMaxTextBytes);
    }
    const std::lock_guard lock(impl_->mutex);
    const auto& promotions = impl_->store->promotions();
    const auto* current = promotions.current();
    if (from && (current == nullptr || current->policy != *from)) {
        return base::make_error(Reason::kStaleReference,
                                "{} is not the champion: nothing was rolled back", *from);
    }
    const auto* target = promotions.rollback_target();
    if (target == nullptr) {
        return base::make_error(Reason::kNothingToRollBackTo,
                                "the champion is the first policy; there is none before it");
    }
    RAMPART_RETURN_IF_ERROR(impl_->load(target->policy));  // never switch to a model that cannot be
                                                           // served
    const Promotion promotion{.sequence = current->sequence + 1,
                              .kind = PromotionKind::kRollback,
                              .policy = target->policy,
                              .replaced = current->policy,
                              .certificate = target->certificate,
                              // a clock that went back must not stand in the way
                              .at = std::max(now, current->at),
                              .actor = std::string(actor),
                              .reason = std::string(reason)};
    RAMPART_RETURN_IF_ERROR(impl_->store->commit({}, promotion));
    return promotion;
}

std::optional<Promotion> ModelRegistry::champion() const {
    const std::lock_guard lock(impl_->mutex);
    const auto* current = impl_->store->promotions().current();
    return current ? std::optional(*current) : std::nullopt;
}

std::optional<Promotion> ModelRegistry::live_at(base::TimePoint time) const {
    const std::lock_guard lock(impl_->mutex);
    const auto* live = impl_->store->promotions().live_at(time);
    return live ? std::optional(*live) : std::nullopt;
}

std::vector<Promotion> ModelRegistry::promotions() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->promotions().entries();
}

base::Status ModelRegistry::record_keys(const std::map<std::string, std::string>& ids,
                                        base::TimePoint now, std::string_view actor) {
    const std::lock_guard lock(impl_->mutex);
    const auto& known = impl_->store->recorded_keys();
    if (known == ids) return base::ok();
    const bool adds = std::all_of(known.begin(), known.end(), [&](const auto& one) {
        const auto it = ids.find(one.first);
        return it != ids.end() && it->second == one.second;
    });
    if (!adds) {
        return base::make_error(Reason::kKeysRecorded,
                                "the registry has the ids of other keys; the keys of a "
                                "store cannot be changed");
    }
    return impl_->store->commit_keys(ids, now, actor);
}

std::map<std::string, std::string> ModelRegistry::recorded_keys() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->recorded_keys();
}

base::Status ModelRegistry::replace_key(const KeyChange& change, base::TimePoint now,
                                        std::string_view actor) {
    if (!change.public_key.empty()) {
        RAMPART_RETURN_IF_ERROR(
            base::VerifyingKey::from_pem(change.public_key).map([](const auto&) {}));
    }
    const std::lock_guard lock(impl_->mutex);
    const auto& known = impl_->store->recorded_keys();
    const auto it = known.find(change.name);
    if (it == known.end() || it->second != change.from || change.to.empty()) {
        return base::make_error(Reason::kKeysRecorded,
                                "the registry has {} as the id of key {}, not {}",
                                it == known.end() ? "none" : it->second, change.name, change.from);
    }
    return impl_->store->commit_key_change(change, now, actor);
}

std::vector<KeyChange> ModelRegistry::key_changes() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->key_changes();
}

std::vector<base::VerifyingKey> ModelRegistry::verifying_keys(
    const base::VerifyingKey& current) const {
    std::vector<base::VerifyingKey> keys{current};
    for (const auto& change : key_changes()) {
        if (change.public_key.empty()) continue;
        if (auto key = base::VerifyingKey::from_pem(change.public_key)) keys.push_back(*key);
    }
    return keys;
}

base::Status ModelRegistry::record_declaration(std::string_view text,
                                               std::map<std::string, std::string> details,
                                               base::TimePoint now, std::string_view actor) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->commit_declaration(text, std::move(details), now, actor);
}

base::Result<std::optional<std::string>> ModelRegistry::recorded_declaration() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->read_declaration();
}

base::Status ModelRegistry::record_operation(base::TimePoint now, std::string_view actor,
                                             std::string_view action,
                                             std::map<std::string, std::string> details) {
    if (DeploymentLog::is_own(action) || ProposalLog::is_own(action)) {
        return base::make_error(Reason::kAuditEntry, "the action {} is the registry's own", action);
    }
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->commit({}, now, actor, action, std::move(details));
}

base::Result<std::vector<AuditEntry>> ModelRegistry::audit_entries() const {
    return audit_entries(0, SIZE_MAX);
}

base::Result<std::vector<AuditEntry>> ModelRegistry::audit_entries(uint64_t after,
                                                                   size_t most) const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->read_audit(after, most);
}

AuditHead ModelRegistry::audit_head() const {
    const std::lock_guard lock(impl_->mutex);
    return impl_->store->head();
}

base::Status ModelRegistry::verify_audit(const std::optional<AuditHead>& apart) const {
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(const auto entries, impl_->store->read_audit());
    if (apart) return verify_chain(entries, *apart);
    // Before the first change, a registry opened for reading may have no head file; then there is
    // no earlier head to compare with.
    RAMPART_TRY(const auto head, impl_->store->read_head_file());
    return verify_chain(entries, head);
}

}  // namespace rampart::registry
