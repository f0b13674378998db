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
#include "rampart/registry/deployment_log.hpp"
#include "rampart/registry/promotion_log.hpp"
#include "rampart/registry/proposal_log.hpp"

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
    std::optional<base::Digest> evidence;  // SHA-256 of the evidence file; empty for a refusal
    base::TimePoint stored_at;
    /// Event time from which it permits no promotion any more; nullopt: no end, or not CERTIFIED.
    std::optional<base::TimePoint> valid_until{};
};

/// Certificate and evidence as files, and the key that must have signed the certificate.
struct Proof {
    std::string_view certificate;
    std::string_view evidence;  // empty: none
    const base::VerifyingKey& key;
};

/// A key of the store that took the place of another.
struct KeyChange {
    std::string name, from, to;  // ids
    std::string reason;
    /// PEM of the public key that `from` signed with, so that what it signed verifies for ever;
    /// empty: it signed nothing.
    std::string public_key{};
    base::TimePoint at{};
};

/// Models, certificates, entries of the δ-ledger and the champion: a folder that
/// one process holds open.
///
/// models/ID.rmp, certificates/ID.cert and evidence/ID.jsonl are named by their SHA-256,
/// written atomically, and checked against their name on every load. registry/ is a
/// database: promotions, champion pointer, ledger, audit log. audit.head is the audit log's
/// head, stored outside it.
///
/// Every change is one synced write of the change and its audit entry: after a crash at any moment
/// both exist or neither does, and the change may be repeated. At any time there is at most one
/// champion, and it is the last entry of the promotion log. Thread safe.
///
/// Opening verifies everything except the files' content: the promotion log, that the pointer is
/// its last entry, and the audit chain against audit.head. Fails with data_loss on any
/// inconsistency: a registry that was tampered with serves nothing.
class ModelRegistry {
  public:
    enum class Mode { kReadWrite, kReadOnly };
    /// Opens the registry. kReadOnly: a snapshot, also while another process holds it open.
    static base::Result<std::unique_ptr<ModelRegistry>> open(const std::filesystem::path& folder,
                                                             Mode mode = Mode::kReadWrite);
    ~ModelRegistry();
    ModelRegistry(const ModelRegistry&) = delete;
    ModelRegistry& operator=(const ModelRegistry&) = delete;

    // --- models

    /// Checks and stores a model file. Repeating it changes nothing. Fails as
    /// decision::check_explained does: failed_precondition "not_explained", if declines by the
    /// policy could have no reasons.
    base::Result<domain::PolicyId> register_model(std::string_view model_file, base::TimePoint now,
                                                  std::string_view actor);
    /// Loads a model. Fails with not_found "unknown_model"; data_loss "model_digest": the file is
    /// not the registered one.
    base::Result<model::LoadedPolicy> load_model(const domain::PolicyId& id) const;
    /// Returns the bytes of a model as they were registered: other bytes are another policy. Errors
    /// as above.
    base::Result<std::string> model_file(const domain::PolicyId& id) const;
    base::Result<std::vector<ModelInfo>> models() const;  // by time of registration

    // --- certificates, with any verdict

    /// Stores a valid certificate; otherwise fails with permission_denied "certificate_invalid".
    /// Repeating it changes nothing.
    base::Result<base::Digest> store_certificate(const Proof& proof, base::TimePoint now,
                                                 std::string_view actor);
    base::Result<std::string> certificate_file(const base::Digest& id) const;
    base::Result<std::string> evidence_file(const base::Digest& evidence) const;
    base::Result<std::vector<CertificateInfo>> certificates() const;  // by time of storing
    /// Returns the event time at which the champion's certificate expires, or did; nullopt: it has
    /// no end, or there is no certified champion.
    base::Result<std::optional<base::TimePoint>> champion_certified_until() const;

    /// Returns every file that registry or audit log names, with champion and evidence: path in the
    /// folder, and required SHA-256. Does not check that the files exist.
    base::Result<std::map<std::string, base::Digest>> documents() const;

    // --- entries of the δ-ledger, in order; certification interprets them

    /// Appends entries from `position` (0, 1, 2, ...) on, durably and atomically. Writing the same
    /// bytes at occupied positions changes nothing. Fails with failed_precondition
    /// "ledger_moved_on" if other bytes are there or a gap would arise: another run came first,
    /// read the ledger again.
    base::Status append_ledger_entries(uint64_t position, std::span<const std::string> added,
                                       base::TimePoint now, std::string_view actor);
    base::Result<std::vector<std::string>> ledger_entries() const;

    // --- champion

    /// Makes a registered bootstrap policy the first champion, marked as uncertified. Repeating it
    /// with the same model returns the entry; otherwise fails with failed_precondition
    /// "champion_exists"; invalid_argument "not_a_bootstrap" if the policy has a learned link.
    base::Result<Promotion> bootstrap_champion(const domain::PolicyId& policy, base::TimePoint now,
                                               std::string_view actor);

    /// Makes `candidate` champion. Requires a certificate that verifies against its evidence and
    /// the key, whose verdict is CERTIFIED, whose candidate is this model, whose reference is the
    /// present champion and with which a run of the ledger is closed; and that `now` is before its
    /// end. Repeating it with the same certificate, while that champion is in force, returns the
    /// existing entry: a champion stays when its certificate expires.
    ///
    /// Fails with not_found "unknown_model"; permission_denied "certificate_invalid" (wrong
    /// signature, evidence or figure); failed_precondition "not_certified" (another verdict),
    /// "other_model" (of another model), "stale_reference" (its reference is no longer champion),
    /// "certificate_spent" (used before, and rolled back since), "no_champion", "time_goes_back",
    /// "uncharged" (its charge is not in this ledger), "unclosed" (its run is not ended there),
    /// "certificate_expired"; "not_explained", of a model that an earlier release registered.
    base::Result<Promotion> promote(const domain::PolicyId& candidate, const Proof& proof,
                                    base::TimePoint now, std::string_view actor);

    /// Restores the previous champion. `from`, if given, must be the champion: pass it so that a
    /// repetition after a crash does not roll back twice. Where `now` lies before the last
    /// promotion, the rollback has that one's time. Fails with failed_precondition
    /// "nothing_to_roll_back_to", "stale_reference"; invalid_argument "reason_missing"; data_loss
    /// if the previous model is damaged.
    base::Result<Promotion> rollback(base::TimePoint now, std::string_view actor,
                                     std::string_view reason,
                                     const std::optional<domain::PolicyId>& from = std::nullopt);

    // --- proposals: certified policies that wait for people (proposal_log.hpp)

    /// Records that `candidate` waits to become champion; until it is approved it decides nothing.
    /// Requires what promote() requires. Repeating it with the same certificate returns its
    /// proposal; with `again`, one that has ended without a switch is followed by a new one.
    ///
    /// Fails as promote() does; failed_precondition "rules_only_pressed": people have taken learned
    /// policies out of service.
    base::Result<PromotionProposal> propose(const domain::PolicyId& candidate, const Proof& proof,
                                            const ProposalTerms& terms, base::TimePoint now,
                                            std::string_view actor, bool again = false);
    /// Records an approval. The last one that is needed makes the policy champion, or starts its
    /// assignment: that, the approval and both audit entries are one synced write. `by.switch_at`
    /// schedules it for switch_scheduled(). What promote() requires is checked anew each time;
    /// `current` is the public key in use.
    ///
    /// Fails as promote() does; not_found "unknown_proposal"; failed_precondition "proposal_ended"
    /// (it was approved or rejected, has expired, or is void: the message says which),
    /// "proposal_differs" (`by.digest` is another proposal's, or `by.switch_at` another than that
    /// of the approvals before), "approved_already" (by this principal, or by all that are needed);
    /// permission_denied "own_proposal"; invalid_argument "bad_comment", "bad_time" (the switch is
    /// not between now and the proposal's and the certificate's end).
    base::Result<PromotionProposal> approve_proposal(uint64_t number, const Judgement& by,
                                                     const base::VerifyingKey& current);
    /// Carries out a scheduled proposal whose time has come by `now`, by the actor "registry". What
    /// promote() requires is checked anew. Returns whether it did; false: it is not due, or has
    /// ended. Fails as approve_proposal() does, and then it stays scheduled, for kSwitchWithin.
    base::Result<bool> switch_scheduled(uint64_t number, base::TimePoint now,
                                        const base::VerifyingKey& current);
    /// Ends a proposal, also one that is scheduled; who proposed may do so, too. Fails as
    /// approve_proposal() does.
    base::Result<PromotionProposal> reject_proposal(uint64_t number, const Judgement& by);
    /// Records the end of each proposal that `now` has expired, or whose certificate or epoch of
    /// the error budget has ended. Approving does not depend on it.
    base::Status end_lapsed_proposals(base::TimePoint now);
    /// Returns all as they are at `now`, the first one first; an end that
    /// end_lapsed_proposals() would record is there already.
    base::Result<std::vector<PromotionProposal>> proposals(base::TimePoint now) const;
    /// Returns the proposal by which a promotion, or the one that a rollback returned to, was
    /// approved; nullopt: it was promoted without one.
    std::optional<PromotionProposal> approval_of(const Promotion& promotion) const;

    std::optional<Promotion> champion() const;
    std::optional<Promotion> live_at(base::TimePoint time) const;
    std::vector<Promotion> promotions() const;

    // --- challengers and stop buttons, by the service's clock

    /// Lets the assignment's policies decide side by side from now on; it ends the assignment in
    /// force. `from` becomes `now`, or the time of the last such entry if that is later. The first
    /// arm must be the champion's; each other policy needs a stored certificate by which it could
    /// be promoted now. `current` is the public key in use. Repeating the assignment in force
    /// changes nothing. Waits for no stop and no rollback while it reads the evidence.
    ///
    /// Fails with invalid_argument "bad_assignment", "audit_entry" (the reason is too long);
    /// failed_precondition "assignment_used" (another one had its id), "no_champion",
    /// "stale_reference" (the first arm is not the champion's), "not_certified", "not_explained",
    /// "rules_only_pressed" (people have taken learned policies out of service), and as promote()
    /// does of the certificate; not_found "unknown_model".
    base::Result<AssignmentPeriod> start_assignment(domain::Assignment assignment,
                                                    const base::VerifyingKey& current,
                                                    base::TimePoint now, std::string_view actor,
                                                    std::string_view reason = {});
    /// Records that an assignment of the champion and one challenger waits for people, as propose()
    /// does of a promotion; the last approval starts it, in one write. Requires what
    /// start_assignment() requires, and fails as that does, as propose() does, and with
    /// "bad_assignment" of more challengers. Repeating it while it waits returns its proposal.
    base::Result<PromotionProposal> propose_challenger(domain::Assignment assignment,
                                                       const ProposalTerms& terms,
                                                       const base::VerifyingKey& current,
                                                       base::TimePoint now, std::string_view actor);
    /// Lets the champion alone decide. `id`, if given, must be that of the assignment in force: an
    /// end does not hit a later one. Fails with failed_precondition "no_assignment"; as above of
    /// the reason.
    base::Result<AssignmentPeriod> end_assignment(base::TimePoint now, std::string_view actor,
                                                  std::string_view id = {},
                                                  std::string_view reason = {});
    std::vector<AssignmentPeriod> assignments() const;
    std::optional<AssignmentPeriod> assignment_in_force() const;

    /// Records that people stop a part of the service, before it stops. Returns the stop that lasts
    /// already, if the button is pressed. Never dated back: it begins `now`, or at the time of the
    /// last such entry if that is later. Fails with invalid_argument "audit_entry": the reason is
    /// too long.
    base::Result<Stop> press_stop(domain::StopKind kind, base::TimePoint now,
                                  std::string_view actor, std::string_view reason = {});
    /// Records the end of each stop of this kind that lasts, after every node decides as before, or
    /// will within `follow`, and returns the last. Fails with failed_precondition "not_pressed";
    /// invalid_argument "audit_entry".
    base::Result<Stop> release_stop(domain::StopKind kind, base::TimePoint now,
                                    std::string_view actor, std::string_view reason = {},
                                    base::Duration follow = {});
    /// Records what another node has on record: a stop with an id, and its end, if it has one, with
    /// the times that it names. What is known already changes nothing; an end stays an end.
    base::Status record_stop(const Stop& stop, base::TimePoint now);
    std::vector<Stop> stops() const;  // in the order in which they became known here
    std::vector<domain::StoppedPeriod> stopped_periods() const;

    // --- keys

    /// Stores the ids of the secret keys used in the store, by name, durably. Repeating it changes
    /// nothing; names that are new are added. Fails with failed_precondition "keys_recorded" if
    /// other ids are stored, or more names.
    base::Status record_keys(const std::map<std::string, std::string>& ids, base::TimePoint now,
                             std::string_view actor);
    /// Returns the stored ids; empty: none.
    std::map<std::string, std::string> recorded_keys() const;
    /// Records, durably and in the audit log, that a key took the place of another, at `now`. Fails
    /// with failed_precondition "keys_recorded" if the recorded id is not `change.from`, and with
    /// invalid_argument "bad_key" if `change.public_key` is none.
    base::Status replace_key(const KeyChange& change, base::TimePoint now, std::string_view actor);
    /// Returns the changes, the first one first.
    std::vector<KeyChange> key_changes() const;
    /// Returns `current`, the public key in use, and those that the store signed with before it.
    std::vector<base::VerifyingKey> verifying_keys(const base::VerifyingKey& current) const;

    // --- what the deployment was declared to be

    /// Stores what schema and product the deployment declares, durably, with the digest in an audit
    /// entry that has `details`, too. It replaces the one before. `details`: as record_operation().
    base::Status record_declaration(std::string_view text,
                                    std::map<std::string, std::string> details, base::TimePoint now,
                                    std::string_view actor);
    /// Returns it; nullopt: none was stored, as by earlier releases. Errors: data_loss
    /// "declaration_edited": it is not the one of the audit log.
    base::Result<std::optional<std::string>> recorded_declaration() const;

    // --- audit

    /// Stores the record of an operator's request outside the registry's own actions, such as
    /// accepting a gap in the log, durably. `action` must not be one of the registry's own; one of
    /// DeploymentLog's or ProposalLog's is refused as "audit_entry".
    base::Status record_operation(base::TimePoint now, std::string_view actor,
                                  std::string_view action,
                                  std::map<std::string, std::string> details);

    base::Result<std::vector<AuditEntry>> audit_entries() const;
    /// Returns the entries behind that of number `after`, up to `most`.
    base::Result<std::vector<AuditEntry>> audit_entries(uint64_t after, size_t most) const;
    AuditHead audit_head() const;
    /// Reads the whole log again and verifies it against `apart` (default: audit.head).
    base::Status verify_audit(const std::optional<AuditHead>& apart = std::nullopt) const;

  private:
    struct Impl;
    explicit ModelRegistry(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace rampart::registry
