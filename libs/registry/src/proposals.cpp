#include <algorithm>

#include "rampart/base/reasons.hpp"
#include "rampart/base/utf8.hpp"
#include "rampart/certification/ledger_view.hpp"
#include "rampart/certification/signer.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "registry_impl.hpp"

/// Certified policies that wait for people.
namespace rampart::registry {
namespace {

using base::Result;
using base::Status;
using State = ProposalState;

constexpr std::string_view kRegistry = "registry";  // actor of an end that time brought

struct Lapse {
    State state;
    std::string_view why;  // set for State::kVoid
};

/// Returns the end that time or a new epoch has brought; nullopt: it waits on, or has ended.
std::optional<Lapse> lapse_of(const PromotionProposal& proposal, base::TimePoint now,
                              uint32_t epoch) {
    if (!proposal.is_open()) return std::nullopt;
    if (now >= proposal.expires) return Lapse{State::kExpired, ""};
    if (proposal.valid_until && now >= *proposal.valid_until)
        return Lapse{State::kVoid, kCertificateEnded};
    if (epoch != proposal.epoch) return Lapse{State::kVoid, kNewEpoch};
    if (proposal.state == State::kScheduled && now >= *proposal.switch_at + kSwitchWithin)
        return Lapse{State::kVoid, kSwitchMissed};
    return std::nullopt;
}

bool any_is_open(const ProposalLog& log) {
    return std::any_of(log.all().begin(), log.all().end(),
                       [](const auto& one) { return one.is_open(); });
}

std::string time_text(const std::optional<base::TimePoint>& switch_at) {
    return switch_at ? "at " + base::to_iso8601(*switch_at) : "with the last approval";
}

/// Checks that the approval says the same of the switch as those before it, and that its time can
/// come.
Status check_switch(const PromotionProposal& proposal, const Judgement& by) {
    if (!proposal.approvals.empty() && by.switch_at != proposal.switch_at)
        return base::make_error(
            Reason::kProposalDiffers,
            "$.switch_at: asks for a switch {}, and {} has approved proposal {} for "
            "one {}: name the same, or reject it",
            time_text(by.switch_at), proposal.approvals[0].who, proposal.number,
            time_text(proposal.switch_at));
    if (!by.switch_at) return base::ok();
    const auto end = std::min(proposal.expires, proposal.valid_until.value_or(proposal.expires));
    if (*by.switch_at > by.at && *by.switch_at < end) return base::ok();
    return base::make_error(base::Reason::kBadTime,
                            "$.switch_at: {} does not lie between now, {}, and {}, when the "
                            "proposal or its certificate ends",
                            base::to_iso8601(*by.switch_at), base::to_iso8601(by.at),
                            base::to_iso8601(end));
}

Status check_comment(const std::string& comment) {
    const bool fits = !comment.empty() && comment.size() <= base::limits::kMaxTextBytes;
    if (fits && base::is_utf8(comment)) return base::ok();
    return base::make_error(Reason::kBadComment,
                            "$.comment: has {} bytes; it is for the audit log: give UTF-8 of 1 to "
                            "{} bytes",
                            comment.size(), base::limits::kMaxTextBytes);
}

/// Returns the promotion by a proposal that follows the current one.
Promotion promotion_of(const PromotionProposal& proposal, const Promotion& current,
                       base::TimePoint at, std::string_view actor) {
    return {.sequence = current.sequence + 1,
            .kind = PromotionKind::kPromotion,
            .policy = proposal.policy,
            .replaced = current.policy,
            .certificate = proposal.certificate,
            .at = at,
            .actor = std::string(actor),
            .reason = ""};
}

bool is_due(const PromotionProposal& proposal, base::TimePoint now) {
    return proposal.state == State::kScheduled && *proposal.switch_at <= now;
}

/// Says that a proposal has ended, and how.
base::Error ended(const PromotionProposal& proposal) {
    const auto at = proposal.ended_at ? base::to_iso8601(*proposal.ended_at) : "";
    return base::make_error(Reason::kProposalEnded, "proposal {} is {}{} since {}{}",
                            proposal.number, to_string(proposal.state),
                            proposal.why.empty() ? "" : fmt::format(" ({})", proposal.why), at,
                            proposal.ended_by.empty() ? "" : ", by " + proposal.ended_by);
}

}  // namespace

/// Returns the epoch of the error budget that is open now; 0: none is.
Result<uint32_t> ModelRegistry::Impl::current_epoch() const {
    RAMPART_TRY(const auto entries, ledger());
    RAMPART_TRY(const auto checked, certification::DeltaLedger::open(entries));
    return checked.epoch();
}

Status ModelRegistry::Impl::end_lapsed(base::TimePoint now) {
    if (!any_is_open(store->proposals())) return base::ok();
    RAMPART_TRY(const auto epoch, current_epoch());
    const auto all = store->proposals().all();  // a copy: each commit changes the log
    for (const auto& proposal : all) {
        const auto lapse = lapse_of(proposal, now, epoch);
        if (!lapse) continue;
        RAMPART_RETURN_IF_ERROR(store->commit({}, now, kRegistry, ProposalLog::kEnd,
                                              end_of(proposal, lapse->state, lapse->why, "")));
    }
    return base::ok();
}

/// Returns the proposal if it has not ended, and is what the person saw.
Result<PromotionProposal> ModelRegistry::Impl::open_proposal(uint64_t number,
                                                             const Judgement& by) const {
    const auto* proposal = store->proposals().find(number);
    if (proposal == nullptr)
        return base::make_error(Reason::kUnknownProposal, "there is no proposal {}", number);
    if (!proposal->is_open()) return ended(*proposal);
    if (by.digest != proposal->digest())
        return base::make_error(Reason::kProposalDiffers,
                                "$.digest: is not that of proposal {}, which has {}: what was seen "
                                "is not what would be approved",
                                number, proposal->digest().hex());
    return *proposal;
}

/// Checks that this principal may approve it, for the first time.
Status ModelRegistry::Impl::check_approver(const PromotionProposal& proposal,
                                           const std::string& who) const {
    if (proposal.state == State::kScheduled)
        return base::make_error(
            Reason::kApprovedAlready, "proposal {} has its {} approvals, and switches {}",
            proposal.number, proposal.approvals_needed, time_text(proposal.switch_at));
    const auto& all = store->proposals().all();
    const bool own = std::any_of(all.begin(), all.end(), [&](const auto& one) {
        return one.policy == proposal.policy && one.proposed_by == who;
    });
    if (own)
        return base::make_error(Reason::kOwnProposal,
                                "the policy of proposal {} was proposed by {}: another principal "
                                "has to approve it",
                                proposal.number, who);
    const bool again = std::any_of(proposal.approvals.begin(), proposal.approvals.end(),
                                   [&](const auto& one) { return one.who == who; });
    if (!again) return base::ok();
    return base::make_error(Reason::kApprovedAlready,
                            "{} has approved proposal {} already: {} of {} approvals are there",
                            who, proposal.number, proposal.approvals.size(),
                            proposal.approvals_needed);
}

/// Checks that no stop takes learned policies out of service.
Status ModelRegistry::Impl::check_no_stop() const {
    for (const auto& stop : store->deployment().stops()) {
        if (stop.period.to || !forbids_promotions(stop.period.kind)) continue;
        return base::make_error(Reason::kRulesOnlyPressed,
                                "the stop {} is pressed since {}, by {}: no learned policy is "
                                "proposed or approved while it lasts",
                                to_string(stop.period.kind), base::to_iso8601(stop.period.from),
                                stop.period.who);
    }
    return base::ok();
}

/// Checks all that a promotion at `now` requires.
Status ModelRegistry::Impl::check_promotion(const domain::PolicyId& candidate,
                                            const VerifiedCertificate& verified,
                                            base::TimePoint now) const {
    RAMPART_TRY(const auto loaded, load(candidate));  // registered, and undamaged
    RAMPART_RETURN_IF_ERROR(check_no_stop());
    RAMPART_RETURN_IF_ERROR(check_promotable(candidate, verified, now));
    return decision::check_explained(loaded.policy);
}

/// Returns the proposal that a certificate which permits a promotion at `at` would make.
Result<PromotionProposal> ModelRegistry::Impl::draft(const domain::PolicyId& candidate,
                                                     const VerifiedCertificate& verified,
                                                     const ProposalTerms& terms, base::TimePoint at,
                                                     std::string_view actor) const {
    RAMPART_TRY(const auto entries, ledger());
    RAMPART_TRY(const auto checked, certification::DeltaLedger::open(entries));
    RAMPART_TRY(const auto history, certification::LedgerView::of(checked));
    const auto& run = history.closed_with(verified.id.hex())->registration;
    const auto& current = *store->promotions().current();
    PromotionProposal made;
    made.number = store->proposals().all().size() + 1;
    made.policy = candidate;
    made.replaces = current.policy;
    made.champion = current.sequence;
    made.certificate = verified.id;
    made.run = certification::certificate_name(run);
    made.epoch = run.epoch;
    made.valid_until = verified.valid_until;
    made.proposed_by = actor;
    made.at = at;
    made.expires = at + terms.lasts;
    made.approvals_needed = terms.approvals;
    if (lapse_of(made, at, checked.epoch()))
        return base::make_error(Reason::kStaleEpoch,
                                "the certificate is of epoch {} of the error budget, and {} is "
                                "open: certify the candidate anew",
                                made.epoch, checked.epoch());
    return made;
}

Result<PromotionProposal> ModelRegistry::propose(const domain::PolicyId& candidate,
                                                 const Proof& proof, const ProposalTerms& terms,
                                                 base::TimePoint now, std::string_view actor,
                                                 bool again) {
    RAMPART_TRY(const auto verified, verify_certificate(proof));
    const std::lock_guard lock(impl_->mutex);
    auto& store = *impl_->store;
    RAMPART_RETURN_IF_ERROR(impl_->end_lapsed(now));
    if (const auto* known = store.proposals().by_certificate(verified.id)) {
        if (!again || known->is_open()) return *known;
    }
    const auto* current = store.promotions().current();
    const auto at = current == nullptr ? now : std::max(now, current->at);
    RAMPART_RETURN_IF_ERROR(impl_->check_promotion(candidate, verified, at));
    RAMPART_TRY(const auto made, impl_->draft(candidate, verified, terms, at, actor));
    RAMPART_TRY(auto batch, impl_->keep_in_batch(proof, verified, at));
    RAMPART_RETURN_IF_ERROR(
        store.commit(std::move(batch), at, actor, ProposalLog::kOpen, opening_of(made)));
    return store.proposals().all().back();
}

/// Returns the digest of the evidence of a proposal's certificate.
Result<base::Digest> ModelRegistry::Impl::evidence_of(const base::Digest& certificate) const {
    RAMPART_TRY(const auto stored, certificate_infos());
    const auto info = std::find_if(stored.begin(), stored.end(),
                                   [&](const auto& one) { return one.id == certificate; });
    if (info != stored.end() && info->evidence) return *info->evidence;
    return base::make_error(Reason::kUnknownCertificate,
                            "the proposal's certificate is not in the registry");
}

/// Checks that another principal brought the candidate, whichever had it certified since.
Status check_not_proposer(const ModelRegistry& registry, const PromotionProposal& proposal,
                          const std::string& who) {
    RAMPART_TRY(const auto entries, registry.audit_entries());
    const bool brought = std::any_of(entries.begin(), entries.end(), [&](const auto& entry) {
        const auto candidate = entry.details.find("candidate");
        return entry.action == "propose_candidate" && entry.actor == who &&
               candidate != entry.details.end() && candidate->second == proposal.policy.value();
    });
    if (!brought) return base::ok();
    return base::make_error(Reason::kOwnProposal,
                            "the policy of proposal {} is a candidate of {}: another principal has "
                            "to approve it",
                            proposal.number, who);
}

/// Reads and verifies the certificate of a proposal. Takes its time: without the lock, so that no
/// stop and no rollback waits for it; the files are what their digests say.
Result<VerifiedCertificate> verify_again(const ModelRegistry& registry,
                                         const base::Digest& certificate,
                                         const base::Digest& evidence,
                                         const base::VerifyingKey& current_key) {
    const auto keys = registry.verifying_keys(current_key);
    RAMPART_TRY(const auto file, registry.certificate_file(certificate));
    RAMPART_TRY(const auto lines, registry.evidence_file(evidence));
    return verify_certificate({file, lines, certification::signer_among(file, keys)});
}

/// Writes what the proposal is about, and its last approval, if that is given now, in one write.
Status ModelRegistry::Impl::carry_out(const PromotionProposal& proposal, base::TimePoint at,
                                      std::string_view actor, std::optional<Recorded> approval) {
    if (proposal.assignment.empty())
        return store->commit({}, promotion_of(proposal, *store->promotions().current(), at, actor),
                             ByProposal{proposal.number, std::move(approval)});
    auto assignment = assignment_of(proposal);
    RAMPART_TRY(const auto known, check_arms(assignment, at));
    if (known)
        return base::make_error(Reason::kAssignmentUsed, "assignment {} is in force already",
                                assignment.id);
    std::vector<Recorded> recorded;
    if (approval) recorded.push_back(*std::move(approval));
    auto details = details_of(assignment);
    details[std::string(ProposalLog::kNumber)] = std::to_string(proposal.number);
    recorded.push_back({assignment.from, std::string(actor),
                        std::string(DeploymentLog::kStartAssignment), std::move(details)});
    return store->commit({}, std::move(recorded));
}

Result<PromotionProposal> ModelRegistry::approve_proposal(uint64_t number, const Judgement& by,
                                                          const base::VerifyingKey& current_key) {
    RAMPART_RETURN_IF_ERROR(check_comment(by.comment));
    std::optional<PromotionProposal> seen;
    std::optional<base::Digest> evidence;
    {
        const std::lock_guard lock(impl_->mutex);
        RAMPART_RETURN_IF_ERROR(impl_->end_lapsed(by.at));
        RAMPART_TRY(seen, impl_->open_proposal(number, by));
        RAMPART_TRY(evidence, impl_->evidence_of(seen->certificate));
    }
    RAMPART_RETURN_IF_ERROR(check_not_proposer(*this, *seen, by.who));
    RAMPART_TRY(const auto verified,
                verify_again(*this, seen->certificate, *evidence, current_key));
    const std::lock_guard lock(impl_->mutex);
    auto& store = *impl_->store;
    RAMPART_RETURN_IF_ERROR(impl_->end_lapsed(by.at));
    RAMPART_TRY(const auto proposal, impl_->open_proposal(number, by));
    RAMPART_RETURN_IF_ERROR(impl_->check_approver(proposal, by.who));
    RAMPART_RETURN_IF_ERROR(check_switch(proposal, by));
    const auto& current = *store.promotions().current();
    const auto at = std::max(by.at, current.at);
    RAMPART_RETURN_IF_ERROR(impl_->check_promotion(proposal.policy, verified, at));
    Recorded approval{at, by.who, std::string(ProposalLog::kApprove),
                      registry::approval_of(proposal, by)};
    if (by.switch_at || proposal.approvals.size() + 1 < proposal.approvals_needed) {
        RAMPART_RETURN_IF_ERROR(store.commit({}, approval.at, approval.actor, approval.action,
                                             std::move(approval.details)));
        return *store.proposals().find(number);
    }
    RAMPART_RETURN_IF_ERROR(impl_->carry_out(proposal, at, by.who, std::move(approval)));
    return *store.proposals().find(number);
}

Result<bool> ModelRegistry::switch_scheduled(uint64_t number, base::TimePoint now,
                                             const base::VerifyingKey& current_key) {
    std::optional<PromotionProposal> due;
    std::optional<base::Digest> evidence;
    {
        const std::lock_guard lock(impl_->mutex);
        RAMPART_RETURN_IF_ERROR(impl_->end_lapsed(now));
        const auto* found = impl_->store->proposals().find(number);
        if (found == nullptr || !is_due(*found, now)) return false;
        due = *found;
        RAMPART_TRY(evidence, impl_->evidence_of(due->certificate));
    }
    RAMPART_TRY(const auto verified, verify_again(*this, due->certificate, *evidence, current_key));
    const std::lock_guard lock(impl_->mutex);
    auto& store = *impl_->store;
    RAMPART_RETURN_IF_ERROR(impl_->end_lapsed(now));  // an epoch was opened meanwhile, say
    if (!is_due(*store.proposals().find(number), now)) return false;
    const auto& current = *store.promotions().current();
    const auto at = std::max(now, current.at);
    RAMPART_RETURN_IF_ERROR(impl_->check_promotion(due->policy, verified, at));
    RAMPART_RETURN_IF_ERROR(impl_->carry_out(*due, at, kRegistry, std::nullopt));
    return true;
}

Result<PromotionProposal> ModelRegistry::reject_proposal(uint64_t number, const Judgement& by) {
    RAMPART_RETURN_IF_ERROR(check_comment(by.comment));
    const std::lock_guard lock(impl_->mutex);
    RAMPART_RETURN_IF_ERROR(impl_->end_lapsed(by.at));
    RAMPART_TRY(const auto proposal, impl_->open_proposal(number, by));
    RAMPART_RETURN_IF_ERROR(
        impl_->store->commit({}, by.at, by.who, ProposalLog::kReject,
                             end_of(proposal, State::kRejected, "", by.comment)));
    return *impl_->store->proposals().find(number);
}

Status ModelRegistry::end_lapsed_proposals(base::TimePoint now) {
    const std::lock_guard lock(impl_->mutex);
    return impl_->end_lapsed(now);
}

Result<std::vector<PromotionProposal>> ModelRegistry::proposals(base::TimePoint now) const {
    const std::lock_guard lock(impl_->mutex);
    auto all = impl_->store->proposals().all();
    if (!any_is_open(impl_->store->proposals())) return all;
    RAMPART_TRY(const auto epoch, impl_->current_epoch());
    for (auto& proposal : all) {
        const auto lapse = lapse_of(proposal, now, epoch);
        if (!lapse) continue;
        proposal.state = lapse->state;
        proposal.why = lapse->why;
        proposal.ended_at = now;
        proposal.ended_by = kRegistry;
    }
    return all;
}

std::optional<PromotionProposal> ModelRegistry::approval_of(const Promotion& promotion) const {
    if (!promotion.certificate) return std::nullopt;
    const std::lock_guard lock(impl_->mutex);
    const auto* proposal = impl_->store->proposals().by_certificate(*promotion.certificate);
    const bool approved = proposal != nullptr && proposal->state == State::kApproved;
    return approved ? std::optional(*proposal) : std::nullopt;
}

}  // namespace rampart::registry
