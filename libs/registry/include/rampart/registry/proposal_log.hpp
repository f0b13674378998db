#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/assignment.hpp"
#include "rampart/domain/ids.hpp"
#include "rampart/domain/stopped_period.hpp"
#include "rampart/registry/audit_log.hpp"

/// Certified policies that wait until people let them decide, as champion or as a challenger.
namespace rampart::registry {

inline constexpr unsigned kMostApprovals = 2;

/// What a proposal needs to become a promotion.
struct ProposalTerms {
    unsigned approvals = 1;  // principals, 1 to kMostApprovals
    base::Duration lasts = base::Duration::days(14);
};

enum class ProposalState : uint8_t {
    kWaiting,
    kScheduled,  // approved, and to be promoted at PromotionProposal::switch_at
    kApproved,   // it was promoted, or its assignment started
    kRejected,
    kExpired,
    kVoid,  // what it was about has changed: PromotionProposal::why
};
std::string_view to_string(ProposalState state);  // "waiting", "scheduled", ...

/// Why a proposal is void.
inline constexpr std::string_view kChampionChanged = "champion_changed", kNewEpoch = "new_epoch",
                                  kCertificateEnded = "certificate_expired",
                                  kRulesPressed = "rules_only_pressed",
                                  kSwitchMissed = "switch_missed";

/// A scheduled switch that was not made for so long is void: it was approved for its time.
inline constexpr auto kSwitchWithin = base::Duration::hours(1);

/// What a person says of a proposal.
struct Judgement {
    base::Digest digest;  // PromotionProposal::digest as the person saw it
    std::string who;      // name of the principal
    std::string comment;  // 1 to limits::kMaxTextBytes bytes, UTF-8
    base::TimePoint at;
    /// When the policy is to decide, if this is an approval; nullopt: with the last approval.
    std::optional<base::TimePoint> switch_at{};
};

struct PromotionProposal {
    struct Approval {
        std::string who;
        base::TimePoint at;
        std::string comment;
        bool operator==(const Approval&) const = default;
    };

    uint64_t number = 0;                // 1, 2, 3, ...
    domain::PolicyId policy, replaces;  // digests of the model files
    uint64_t champion = 0;              // sequence of the promotion that it would follow
    base::Digest certificate;           // depends on outcomes of the vault: not to be shown
    std::string run;                    // the certificate's public name, "e2r6"
    uint32_t epoch = 0;                 // epoch of the error budget that was charged
    std::optional<base::TimePoint> valid_until;  // the certificate's; nullopt: no end
    std::string proposed_by;                     // a principal, or "trainer"
    base::TimePoint at, expires;
    unsigned approvals_needed = 1;
    /// Id of the assignment that it would start, and the share of people that the policy would
    /// decide about; the champion has the rest. Empty: it would become champion.
    std::string assignment;
    double share = 0;
    std::vector<Approval> approvals;  // by different principals, and none by proposed_by
    /// When it is promoted, as each approval says; nullopt: with the last one. The first sets it.
    std::optional<base::TimePoint> switch_at;

    ProposalState state = ProposalState::kWaiting;
    std::string why;                          // set for kVoid
    std::optional<base::TimePoint> ended_at;  // nullopt: it waits, or is scheduled
    std::string ended_by, comment;            // who ended it; why it was rejected
    std::optional<uint64_t> promotion;        // sequence of the promotion, if it was promoted

    /// Returns whether it has not ended.
    bool is_open() const {
        return state == ProposalState::kWaiting || state == ProposalState::kScheduled;
    }
    /// Returns what binds an approval to what was seen: SHA-256 over all that does not change while
    /// it waits, with the certificate by its public name. No outcome of the vault has a part in it.
    base::Digest digest() const;
    bool operator==(const PromotionProposal&) const = default;
};

/// Whether no policy may be promoted by approval while such a stop lasts: learned policies are out
/// of service.
bool forbids_promotions(domain::StopKind kind);

/// History of proposals, as the entries of the audit log tell it. A proposal becomes void by each
/// change of the champion, and by a stop that forbids promotions, also one that is scheduled. Not
/// thread safe.
class ProposalLog {
  public:
    // Actions of the audit log that it reads, besides changes of the champion and stops.
    static constexpr std::string_view kOpen = "open_proposal", kApprove = "approve_proposal",
                                      kReject = "reject_proposal", kEnd = "end_proposal";
    static constexpr std::string_view kNumber = "proposal";  // detail with the number
    /// Returns whether the action is one of these four.
    static bool is_own(std::string_view action);

    /// Takes the next entry in; entries of other actions change nothing. Errors: data_loss
    /// "proposal_log": a proposal that is none, an approval that is not allowed, or an end of what
    /// does not wait.
    base::Status add(const AuditEntry& entry);

    const std::vector<PromotionProposal>& all() const { return all_; }
    /// nullptr: there is none.
    const PromotionProposal* find(uint64_t number) const;
    /// Returns the last proposal of a promotion by this certificate; nullptr: there is none.
    const PromotionProposal* by_certificate(const base::Digest& certificate) const;
    /// Returns the proposal of this assignment that has not ended; nullptr: there is none.
    const PromotionProposal* open_for(std::string_view assignment) const;

  private:
    base::Status open(const AuditEntry& entry);
    base::Status approve(const AuditEntry& entry);
    base::Status end(const AuditEntry& entry);
    base::Status change_champion(const AuditEntry& entry);
    base::Status start_assignment(const AuditEntry& entry);
    PromotionProposal* open_one(const AuditEntry& entry);
    void make_void(const AuditEntry& entry, std::string_view why);

    std::vector<PromotionProposal> all_;
};

/// Returns the assignment that the proposal would start, without its time. It names one.
domain::Assignment assignment_of(const PromotionProposal& proposal);

// Details of the audit entries of a proposal.
std::map<std::string, std::string> opening_of(const PromotionProposal& proposal);
std::map<std::string, std::string> approval_of(const PromotionProposal& proposal,
                                               const Judgement& by);
/// `why`: of kVoid; `comment`: of kRejected.
std::map<std::string, std::string> end_of(const PromotionProposal& proposal, ProposalState state,
                                          std::string_view why, std::string_view comment);

/// Returns it as one JSON object, as GET /v1/proposals/{id} shows it: without a figure or a digest
/// that depends on the vault.
std::string to_json(const PromotionProposal& proposal);

}  // namespace rampart::registry
