#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rampart/registry/audit_log.hpp"
#include "rampart/registry/deployment_log.hpp"
#include "rampart/registry/model_registry.hpp"
#include "rampart/registry/promotion_log.hpp"
#include "rampart/registry/proposal_log.hpp"
#include "rampart/storage/database.hpp"

namespace rampart::registry {

/// What a commit puts into the audit log.
struct Recorded {
    base::TimePoint at;
    std::string actor, action;
    std::map<std::string, std::string> details;
};

/// The proposal by which a promotion is made, and the last approval; nullopt: it was scheduled.
struct ByProposal {
    uint64_t number = 0;
    std::optional<Recorded> approval;
};

/// The registry's database and its invariants: promotion log, champion pointer and audit log are
/// consistent, and every commit contains its audit entry. Not thread safe.
class RegistryStore {
  public:
    // Column families, in the order in which they are opened.
    static constexpr storage::ColumnFamily kModels{0};      // hex id → time, actor, size
    static constexpr storage::ColumnFamily kPromotions{1};  // u64 sequence → Promotion
    // "champion" → policy id, "declaration" → text
    static constexpr storage::ColumnFamily kChampion{2};
    static constexpr storage::ColumnFamily kCertificates{
        3};  // hex id → candidate, reference, verdict, ...
    static constexpr storage::ColumnFamily kLedger{4};  // u64 position → entry
    static constexpr storage::ColumnFamily kAudit{5};   // u64 sequence → AuditEntry

    static base::Result<std::unique_ptr<RegistryStore>> open(const std::filesystem::path& folder,
                                                             bool read_only);

    /// Opens it for reading alone, and checks nothing: for those who look for what is wrong.
    static base::Result<std::unique_ptr<RegistryStore>> open_unchecked(
        const std::filesystem::path& folder);

    const storage::Database& database() const { return *database_; }
    const PromotionLog& promotions() const { return promotions_; }
    /// Returns assignments and stop buttons, which are entries of the audit log alone.
    const DeploymentLog& deployment() const { return deployment_; }
    /// Returns proposals, which are entries of the audit log alone, too.
    const ProposalLog& proposals() const { return proposals_; }
    const AuditHead& head() const { return head_; }
    /// Returns the key ids from their audit entry; empty: there is none.
    const std::map<std::string, std::string>& recorded_keys() const { return recorded_keys_; }
    const std::vector<KeyChange>& key_changes() const { return key_changes_; }
    /// Returns the stored declaration; nullopt: there is none. Errors: data_loss
    /// "declaration_edited".
    base::Result<std::optional<std::string>> read_declaration() const;

    /// Writes the batch and its audit entry together, synced.
    base::Status commit(storage::WriteBatch batch, base::TimePoint at, std::string_view actor,
                        std::string_view action, std::map<std::string, std::string> details);
    /// The same with several audit entries, in their order.
    base::Status commit(storage::WriteBatch batch, std::vector<Recorded> recorded);
    /// Commits a promotion: entry, champion pointer, audit entry, and the batch; where it is made
    /// by a proposal, also the audit entry of its last approval.
    base::Status commit(storage::WriteBatch batch, const Promotion& promotion,
                        std::optional<ByProposal> by = std::nullopt);
    /// Commits an audit entry of the ids, and nothing else.
    base::Status commit_keys(const std::map<std::string, std::string>& ids, base::TimePoint at,
                             std::string_view actor);
    /// Commits an audit entry of the change, and nothing else. The recorded id is `change.from`.
    base::Status commit_key_change(const KeyChange& change, base::TimePoint at,
                                   std::string_view actor);

    /// Commits the declaration and an audit entry with its digest.
    base::Status commit_declaration(std::string_view text,
                                    std::map<std::string, std::string> details, base::TimePoint at,
                                    std::string_view actor);

    base::Result<std::vector<AuditEntry>> read_audit(uint64_t after = 0,
                                                     size_t most = SIZE_MAX) const;
    /// Reads the present file, not the state at opening.
    base::Result<AuditHead> read_head_file() const { return read_head_file(folder_); }
    static base::Result<AuditHead> read_head_file(const std::filesystem::path& folder);

    static std::string key(uint64_t number);

  private:
    RegistryStore(std::filesystem::path folder, bool read_only)
        : folder_(std::move(folder)), read_only_(read_only) {}
    base::Status open_database();
    base::Status load_promotions();
    base::Status load_audit(const std::optional<AuditHead>& apart);
    base::Status load_key_change(const AuditEntry& entry);
    base::Status write_head_file() const;
    static std::filesystem::path head_path(const std::filesystem::path& folder) {
        return folder / "audit.head";
    }

    std::filesystem::path folder_;
    bool read_only_;
    std::unique_ptr<storage::Database> database_;
    PromotionLog promotions_;
    DeploymentLog deployment_;
    ProposalLog proposals_;
    AuditHead head_;
    std::map<std::string, std::string> recorded_keys_;
    std::vector<KeyChange> key_changes_;
    std::string declared_;  // hex digest of the declaration by the last entry; empty: none
};

}  // namespace rampart::registry
