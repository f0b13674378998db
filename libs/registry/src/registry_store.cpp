#include "registry_store.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/registry/reasons.hpp"
#include "rampart/storage/reasons.hpp"

namespace rampart::registry {
namespace {

constexpr base::Logger kLog("registry");
constexpr std::string_view kChampionKey = "champion";
constexpr std::string_view kKeysAction = "keys";
constexpr std::string_view kKeyChangeAction = "key_rotated";
constexpr std::string_view kDeclarationAction = "declare_schema", kDeclarationKey = "declaration";
constexpr const char* kDeclarationDetail = "declaration";  // hex digest of the text
constexpr size_t kMaxHeadBytes = 128;

/// Returns the digest of the declaration that the entry records.
std::string digest_in(const AuditEntry& entry) {
    const auto it = entry.details.find(kDeclarationDetail);
    return it == entry.details.end() ? std::string() : it->second;
}

}  // namespace

std::string RegistryStore::key(uint64_t number) {
    std::string out;
    base::append_u64(out, number);
    return out;
}

base::Result<std::unique_ptr<RegistryStore>> RegistryStore::open(
    const std::filesystem::path& folder, bool read_only) {
    std::unique_ptr<RegistryStore> store(new RegistryStore(folder, read_only));
    // Reads the head before the log: a reader that runs beside a writer must not see a head that
    // is newer than the log.
    std::optional<AuditHead> apart;
    auto head = store->read_head_file();
    if (head) {
        apart = *head;
    } else if (head.error().code != base::ErrorCode::kNotFound) {
        return head.error();
    }
    RAMPART_RETURN_IF_ERROR(store->open_database());
    RAMPART_RETURN_IF_ERROR(store->load_promotions());
    RAMPART_RETURN_IF_ERROR(store->load_audit(apart));
    if (!read_only) RAMPART_RETURN_IF_ERROR(store->write_head_file());
    return store;
}

base::Result<std::unique_ptr<RegistryStore>> RegistryStore::open_unchecked(
    const std::filesystem::path& folder) {
    std::unique_ptr<RegistryStore> store(new RegistryStore(folder, true));
    RAMPART_RETURN_IF_ERROR(store->open_database());
    return store;
}

base::Status RegistryStore::open_database() {
    storage::OpenOptions options;
    options.create = !read_only_;
    options.read_only = read_only_;
    options.memtable_bytes = 1u << 20;
    options.cache_bytes = 1u << 20;
    RAMPART_TRY(database_, storage::Database::open(folder_ / "registry",
                                                   {"models", "promotions", "champion",
                                                    "certificates", "ledger", "audit"},
                                                   options));
    return base::ok();
}

base::Status RegistryStore::load_promotions() {
    RAMPART_RETURN_IF_ERROR(database_->scan(
        kPromotions, storage::KeyRange::all(),
        [&](std::string_view at, std::string_view value) -> base::Result<bool> {
            RAMPART_TRY(auto promotion, decode_promotion(value));
            if (at != key(promotion.sequence)) {
                return base::make_error(Reason::kPromotionLog,
                                        "promotion log: entry {} is at the wrong position",
                                        promotion.sequence);
            }
            if (auto added = promotions_.add(std::move(promotion)); !added) return added.error();
            return true;
        }));
    RAMPART_TRY(const auto champion, database_->get(kChampion, kChampionKey));
    const auto* current = promotions_.current();
    const bool agree = current == nullptr ? !champion : champion == current->policy.value();
    if (!agree) {
        return base::make_error(
            Reason::kChampionPointer,
            "{}: the champion pointer is not the promotion log's last entry: restore the "
            "registry from a copy",
            folder_.string());
    }
    return base::ok();
}

base::Status RegistryStore::load_audit(const std::optional<AuditHead>& apart) {
    RAMPART_TRY(const auto entries, read_audit());
    if (!apart && !entries.empty()) {
        return base::make_error(
            Reason::kAuditHead,
            "{} is missing, but the audit log has {} entries: restore it from a copy",
            head_path(folder_).string(), entries.size());
    }
    RAMPART_RETURN_IF_ERROR(verify_chain(entries, apart.value_or(AuditHead{})));
    if (!entries.empty()) head_ = head_of(entries.back());
    for (const auto& entry : entries) {
        if (entry.action == kKeysAction) recorded_keys_ = entry.details;
        if (entry.action == kKeyChangeAction) RAMPART_RETURN_IF_ERROR(load_key_change(entry));
        if (entry.action == kDeclarationAction) declared_ = digest_in(entry);
        RAMPART_RETURN_IF_ERROR(deployment_.add(entry));
        RAMPART_RETURN_IF_ERROR(proposals_.add(entry));
    }
    return base::ok();
}

base::Status RegistryStore::load_key_change(const AuditEntry& entry) {
    const auto detail = [&](const char* name) {
        const auto it = entry.details.find(name);
        return it == entry.details.end() ? std::string() : it->second;
    };
    KeyChange change{detail("key"),    detail("from"),       detail("to"),
                     detail("reason"), detail("public_key"), entry.at};
    const auto known = recorded_keys_.find(change.name);
    if (known == recorded_keys_.end() || known->second != change.from || change.to.empty() ||
        (!change.public_key.empty() && !base::VerifyingKey::from_pem(change.public_key))) {
        return base::make_error(Reason::kAuditEdited,
                                "audit log, entry {}: {} does not follow from the keys before it; "
                                "restore the registry from a copy",
                                entry.sequence, entry.action);
    }
    known->second = change.to;
    key_changes_.push_back(std::move(change));
    return base::ok();
}

base::Result<std::vector<AuditEntry>> RegistryStore::read_audit(uint64_t after, size_t most) const {
    std::vector<AuditEntry> entries;
    if (most == 0 || after == UINT64_MAX) return entries;
    RAMPART_RETURN_IF_ERROR(database_->scan(
        kAudit, storage::KeyRange{key(after + 1), ""},
        [&](std::string_view at, std::string_view value) -> base::Result<bool> {
            RAMPART_TRY(auto entry, decode_audit_entry(value));
            if (at != key(entry.sequence)) {
                return base::make_error(Reason::kAuditReordered,
                                        "audit log: entry {} is at the wrong position",
                                        entry.sequence);
            }
            entries.push_back(std::move(entry));
            return entries.size() < most;
        }));
    return entries;
}

base::Result<AuditHead> RegistryStore::read_head_file(const std::filesystem::path& folder) {
    RAMPART_TRY(const auto text, base::read_file(head_path(folder), kMaxHeadBytes));
    auto head = parse_audit_head(text);
    if (!head) return head.error().with_context(head_path(folder).string());
    return head;
}

base::Status RegistryStore::write_head_file() const {
    return base::write_file_atomically(head_path(folder_), to_text(head_));
}

base::Status RegistryStore::commit(storage::WriteBatch batch, std::vector<Recorded> recorded) {
    if (read_only_) {
        return base::make_error(storage::Reason::kReadOnly, "{} was opened for reading only",
                                folder_.string());
    }
    AuditHead head = head_;
    DeploymentLog deployment = deployment_;
    ProposalLog proposals = proposals_;
    for (auto& one : recorded) {
        RAMPART_TRY(const auto entry, next_entry(head, one.at, std::move(one.actor),
                                                 std::move(one.action), std::move(one.details)));
        RAMPART_RETURN_IF_ERROR(deployment.add(entry));
        RAMPART_RETURN_IF_ERROR(proposals.add(entry));
        batch.put(kAudit, key(entry.sequence), encode(entry));
        head = head_of(entry);
    }
    RAMPART_RETURN_IF_ERROR(database_->write(batch, storage::Sync::kAlways));
    head_ = head;
    deployment_ = std::move(deployment);
    proposals_ = std::move(proposals);
    // The change is committed even if this file cannot be written: the file then lags until the
    // next change or opening.
    if (const auto written = write_head_file(); !written) {
        kLog.error("msg=\"audit head not written\" entry={} error=\"{}\"", head_.count,
                   written.error().message);
    }
    return base::ok();
}

base::Status RegistryStore::commit(storage::WriteBatch batch, base::TimePoint at,
                                   std::string_view actor, std::string_view action,
                                   std::map<std::string, std::string> details) {
    std::vector<Recorded> recorded;
    recorded.push_back({at, std::string(actor), std::string(action), std::move(details)});
    return commit(std::move(batch), std::move(recorded));
}

base::Status RegistryStore::commit(storage::WriteBatch batch, const Promotion& promotion,
                                   std::optional<ByProposal> by) {
    PromotionLog after = promotions_;
    RAMPART_RETURN_IF_ERROR(after.add(promotion));
    batch.put(kPromotions, key(promotion.sequence), encode(promotion));
    batch.put(kChampion, kChampionKey, promotion.policy.value());
    std::map<std::string, std::string> details{{"model", promotion.policy.value()},
                                               {"promotion", std::to_string(promotion.sequence)}};
    if (promotion.replaced) details["replaced"] = promotion.replaced->value();
    if (promotion.certificate) details["certificate"] = promotion.certificate->hex();
    if (!promotion.reason.empty()) details["reason"] = promotion.reason;
    const auto action =
        promotion.kind == PromotionKind::kPromotion ? "promote" : to_string(promotion.kind);
    std::vector<Recorded> recorded;
    if (by) {
        details[std::string(ProposalLog::kNumber)] = std::to_string(by->number);
        if (by->approval) recorded.push_back(*std::move(by->approval));
    }
    recorded.push_back({promotion.at, promotion.actor, std::string(action), std::move(details)});
    RAMPART_RETURN_IF_ERROR(commit(std::move(batch), std::move(recorded)));
    promotions_ = std::move(after);
    return base::ok();
}

base::Status RegistryStore::commit_keys(const std::map<std::string, std::string>& ids,
                                        base::TimePoint at, std::string_view actor) {
    RAMPART_RETURN_IF_ERROR(commit({}, at, actor, kKeysAction, ids));
    recorded_keys_ = ids;
    return base::ok();
}

base::Status RegistryStore::commit_declaration(std::string_view text,
                                               std::map<std::string, std::string> details,
                                               base::TimePoint at, std::string_view actor) {
    const auto digest = base::sha256(text).hex();
    details[kDeclarationDetail] = digest;
    storage::WriteBatch batch;
    batch.put(kChampion, kDeclarationKey, text);
    RAMPART_RETURN_IF_ERROR(
        commit(std::move(batch), at, actor, kDeclarationAction, std::move(details)));
    declared_ = digest;
    return base::ok();
}

base::Result<std::optional<std::string>> RegistryStore::read_declaration() const {
    RAMPART_TRY(auto text, database_->get(kChampion, kDeclarationKey));
    if ((text ? base::sha256(*text).hex() : std::string()) == declared_) return text;
    return base::make_error(Reason::kDeclarationEdited,
                            "the schema and product that this store was declared with are not "
                            "those of the audit log: {}",
                            text ? "their text has another digest" : "their text is not there");
}

base::Status RegistryStore::commit_key_change(const KeyChange& change, base::TimePoint at,
                                              std::string_view actor) {
    std::map<std::string, std::string> details{
        {"key", change.name}, {"from", change.from}, {"to", change.to}, {"reason", change.reason}};
    if (!change.public_key.empty()) details["public_key"] = change.public_key;
    RAMPART_RETURN_IF_ERROR(commit({}, at, actor, kKeyChangeAction, std::move(details)));
    recorded_keys_[change.name] = change.to;
    key_changes_.push_back(change);
    key_changes_.back().at = at;
    return base::ok();
}

}  // namespace rampart::registry
