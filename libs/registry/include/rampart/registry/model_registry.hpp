#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/base/signing.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/model/model_file.hpp"
#include "rampart/registry/audit_log.hpp"
#include "rampart/registry/promotion_log.hpp"

namespace rampart::registry {

struct ModelInfo {
    domain::PolicyId id;
    base::TimePoint registered_at;
    std::string actor;
    uint64_t bytes = 0;
};

struct CertificateInfo {
    base::Digest id;  // SHA-256 of the certificate file
    domain::PolicyId candidate, reference;
    std::string verdict;  // "CERTIFIED", "NO_SOLUTION_FOUND", "REFUSED", "IDENTICAL"
    std::optional<base::Digest> evidence;  // SHA-256 of the evidence file; a refusal has none
    base::TimePoint stored_at;
};

/// Certificate and evidence as files, and the key that the certificate must be signed with.
struct Proof {
    std::string_view certificate;
    std::string_view evidence;  // empty: none
    const base::VerifyingKey& key;
};

/// Models, certificates, the δ-ledger's entries, and who is champion: a folder, held by one
/// process.
///
/// models/ID.rmp, certificates/ID.cert and evidence/ID.jsonl are named by their SHA-256, written
/// whole or not at all, and checked against their name on every load. registry/ is a database:
/// promotions, the champion pointer, ledger, audit log. audit.head is the audit log's head, kept
/// apart from it.
///
/// Every change is one synced write that holds the change and its audit entry: after a crash at any
/// moment both are there or neither is, and doing it again does no harm. At any time there is at
/// most one champion, and it is the last entry of the promotion log. Thread safe.
///
/// Opening verifies everything but the files' content: the promotion log, that the pointer is its
/// last entry, and the audit chain against audit.head. data_loss if anything does not fit: nothing
/// is served from a registry that was tampered with.
class ModelRegistry {
  public:
    enum class Mode { kReadWrite, kReadOnly };
    /// kReadOnly: a look at what stands at this moment, beside a process that holds it open.
    static base::Result<std::unique_ptr<ModelRegistry>> open(const std::filesystem::path& folder,
                                                             Mode mode = Mode::kReadWrite);
    ~ModelRegistry();
    ModelRegistry(const ModelRegistry&) = delete;
    ModelRegistry& operator=(const ModelRegistry&) = delete;

    // --- models

    /// Checks and keeps a model file. The same again changes nothing.
    base::Result<domain::PolicyId> register_model(std::string_view model_file, base::TimePoint now,
                                                  std::string_view actor);
    /// not_found "unknown_model"; data_loss "model_digest": the file is not the one that was
    /// registered.
    base::Result<model::LoadedPolicy> load_model(const domain::PolicyId& id) const;
    base::Result<std::vector<ModelInfo>> models() const;  // by time of registration

    // --- certificates, of whatever verdict

    /// Keeps a certificate that verifies. permission_denied "certificate_invalid" otherwise. The
    /// same again changes nothing.
    base::Result<base::Digest> store_certificate(const Proof& proof, base::TimePoint now,
                                                 std::string_view actor);
    base::Result<std::string> certificate_file(const base::Digest& id) const;
    base::Result<std::string> evidence_file(const base::Digest& evidence) const;
    base::Result<std::vector<CertificateInfo>> certificates() const;  // by time of storing

    /// Every file that the registry or its audit log names, champion and evidence among them: path
    /// in the folder, and the SHA-256 that its content must have. The files need not be there.
    base::Result<std::map<std::string, base::Digest>> documents() const;

    // --- the δ-ledger's entries, in order; what they mean is certification's business

    /// Appends the entry at `position` (0, 1, 2, ...), durable when it returns. The same bytes at a
    /// position taken change nothing. failed_precondition "ledger_moved_on": other bytes are there,
    /// or there is a gap: another run came first, read the ledger again.
    base::Status append_ledger_entry(uint64_t position, std::string_view entry, base::TimePoint now,
                                     std::string_view actor);
    /// The same of several entries from `position` on: all of them, or after a crash none.
    base::Status append_ledger_entries(uint64_t position, std::span<const std::string> added,
                                       base::TimePoint now, std::string_view actor);
    base::Result<std::vector<std::string>> ledger_entries() const;

    // --- champion

    /// Makes a registered bootstrap policy the first champion, marked as uncertified. Once: again
    /// with the same model returns the entry; otherwise failed_precondition "champion_exists".
    /// invalid_argument "not_a_bootstrap": the policy has a learnt link.
    base::Result<Promotion> bootstrap_champion(const domain::PolicyId& policy, base::TimePoint now,
                                               std::string_view actor);

    /// Makes `candidate` champion. Only with a certificate that verifies against its evidence and
    /// the key, whose verdict is CERTIFIED, whose candidate is this model and whose reference is
    /// the present champion. Again with the same certificate, while it is champion by it: returns
    /// the entry that stands.
    ///
    /// Errors: not_found "unknown_model"; permission_denied "certificate_invalid" (signature,
    /// evidence or a figure is not right); failed_precondition "not_certified" (another verdict),
    /// "other_model" (of another model), "stale_reference" (compares with a policy that is not
    /// champion any more), "certificate_spent" (used before, and rolled back since), "no_champion",
    /// "time_goes_back", "uncharged" (its charge is not in the ledger here).
    base::Result<Promotion> promote(const domain::PolicyId& candidate, const Proof& proof,
                                    base::TimePoint now, std::string_view actor);

    /// Back to the champion before. `from`, if given, must be champion: who repeats a rollback
    /// after a crash gives it, and goes back once. failed_precondition "nothing_to_roll_back_to",
    /// "stale_reference", "time_goes_back"; invalid_argument "reason_missing"; data_loss if the
    /// model to go back to is damaged.
    base::Result<Promotion> rollback(base::TimePoint now, std::string_view actor,
                                     std::string_view reason,
                                     const std::optional<domain::PolicyId>& from = std::nullopt);

    std::optional<Promotion> champion() const;
    std::optional<Promotion> live_at(base::TimePoint time) const;
    std::vector<Promotion> promotions() const;

    // --- keys

    /// Keeps the ids of the secret keys that the store is made with, by name; durable when it
    /// returns. The same again changes nothing. failed_precondition "keys_recorded": others are
    /// kept.
    base::Status record_keys(const std::map<std::string, std::string>& ids, base::TimePoint now,
                             std::string_view actor);
    /// Empty: not recorded yet.
    std::map<std::string, std::string> recorded_keys() const;

    // --- audit

    /// Keeps that an operator asked for something that is not the registry's own business, such as
    /// to accept a gap in the log; durable when it returns. `action` is none of the registry's own.
    base::Status record_operation(base::TimePoint now, std::string_view actor,
                                  std::string_view action,
                                  std::map<std::string, std::string> details);

    base::Result<std::vector<AuditEntry>> audit_entries() const;
    AuditHead audit_head() const;
    /// Reads the whole log again and verifies it against `apart` (default: audit.head).
    base::Status verify_audit(const std::optional<AuditHead>& apart = std::nullopt) const;

  private:
    struct Impl;
    explicit ModelRegistry(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::registry
