#include "rampart/registry/proposal_log.hpp"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "rampart/registry/deployment_log.hpp"
#include "rampart/registry/reasons.hpp"

namespace rampart::registry {
namespace {

namespace json = boost::json;
using base::Result;
using base::Status;
using State = ProposalState;

constexpr std::string_view kStates[] = {"waiting",  "scheduled", "approved",
                                        "rejected", "expired",   "void"};

constexpr std::string_view kSwitchAt = "switch_at", kAssignment = "assignment", kShare = "share";

base::Error broken(const AuditEntry& entry, std::string_view what) {
    return base::make_error(Reason::kProposalLog,
                            "audit log, entry {}: {} {}; restore the registry from a copy",
                            entry.sequence, entry.action, what);
}

std::string detail(const AuditEntry& entry, std::string_view name) {
    const auto it = entry.details.find(std::string(name));
    return it == entry.details.end() ? std::string() : it->second;
}

/// Returns the detail as a whole number; nullopt: it is none.
std::optional<uint64_t> number_in(const AuditEntry& entry, std::string_view name) {
    const auto text = detail(entry, name);
    uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    return failure == std::errc() && last == end ? std::optional(value) : std::nullopt;
}

/// Returns the share of a challenger, in (0, 1); nullopt: it is none.
std::optional<double> share_in(const AuditEntry& entry) {
    const auto text = detail(entry, kShare);
    double share = 0;
    const char* end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, share);
    const bool whole = failure == std::errc() && last == end;
    return whole && share > 0 && share < 1 ? std::optional(share) : std::nullopt;
}

void finish(PromotionProposal& proposal, const AuditEntry& entry, State state) {
    proposal.state = state;
    proposal.ended_at = entry.at;
    proposal.ended_by = entry.actor;
}

/// Returns the details that name a proposal.
std::map<std::string, std::string> naming(const PromotionProposal& proposal) {
    return {{std::string(ProposalLog::kNumber), std::to_string(proposal.number)},
            {"model", proposal.policy.value()},
            {"digest", proposal.digest().hex()}};
}

json::value text_or_null(const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::value(text);
}

json::value time_or_null(const std::optional<base::TimePoint>& time) {
    return time ? json::value(base::to_iso8601(*time)) : json::value(nullptr);
}

}  // namespace

std::string_view to_string(ProposalState state) { return kStates[static_cast<size_t>(state)]; }

bool forbids_promotions(domain::StopKind kind) { return kind != domain::StopKind::kExplorationOff; }

base::Digest PromotionProposal::digest() const {
    base::Sha256 hash;
    hash.update_field("rampart proposal 1");
    for (const uint64_t value : {number, champion, uint64_t{epoch}, uint64_t{approvals_needed}})
        hash.update_field(std::to_string(value));
    for (const auto& text : {policy.value(), replaces.value(), run, proposed_by})
        hash.update_field(text);
    hash.update_field(base::to_iso8601(at));
    hash.update_field(base::to_iso8601(expires));
    hash.update_field(valid_until ? base::to_iso8601(*valid_until) : "");
    if (!assignment.empty()) {  // else as earlier releases wrote it
        for (const auto& text : {std::string("challenger"), assignment, fmt::format("{}", share)})
            hash.update_field(text);
    }
    return hash.finish();
}

bool ProposalLog::is_own(std::string_view action) {
    return action == kOpen || action == kApprove || action == kReject || action == kEnd;
}

const PromotionProposal* ProposalLog::find(uint64_t number) const {
    return number == 0 || number > all_.size() ? nullptr : &all_[number - 1];
}

const PromotionProposal* ProposalLog::by_certificate(const base::Digest& certificate) const {
    const auto it = std::find_if(all_.rbegin(), all_.rend(), [&](const auto& one) {
        return one.certificate == certificate && one.assignment.empty();
    });
    return it == all_.rend() ? nullptr : &*it;
}

const PromotionProposal* ProposalLog::open_for(std::string_view assignment) const {
    const auto it = std::find_if(all_.begin(), all_.end(), [&](const auto& one) {
        return one.is_open() && one.assignment == assignment;
    });
    return it == all_.end() || assignment.empty() ? nullptr : &*it;
}

/// Returns the proposal that the entry names; nullptr: it names none that has not ended.
PromotionProposal* ProposalLog::open_one(const AuditEntry& entry) {
    const auto number = number_in(entry, kNumber);
    if (!number || *number == 0 || *number > all_.size()) return nullptr;
    auto& proposal = all_[*number - 1];
    return proposal.is_open() ? &proposal : nullptr;
}

Status ProposalLog::open(const AuditEntry& entry) {
    PromotionProposal made;
    const auto number = number_in(entry, kNumber), champion = number_in(entry, "champion"),
               epoch = number_in(entry, "epoch"), approvals = number_in(entry, "approvals");
    const auto certificate = base::Digest::from_hex(detail(entry, "certificate"));
    const auto expires = base::parse_iso8601(detail(entry, "expires"));
    if (!number || !champion || !epoch || !approvals || !certificate || !expires)
        return broken(entry, "lacks a part of a proposal");
    made.number = *number;
    made.policy = domain::PolicyId(detail(entry, "model"));
    made.replaces = domain::PolicyId(detail(entry, "replaces"));
    made.champion = *champion;
    made.certificate = *certificate;
    made.run = detail(entry, "run");
    made.epoch = static_cast<uint32_t>(*epoch);
    made.approvals_needed = static_cast<unsigned>(*approvals);
    made.proposed_by = entry.actor;
    made.at = entry.at;
    made.expires = *expires;
    if (const auto end = detail(entry, "valid_until"); !end.empty()) {
        const auto time = base::parse_iso8601(end);
        if (!time) return broken(entry, "has a time that is none");
        made.valid_until = *time;
    }
    made.assignment = detail(entry, kAssignment);
    if (!made.assignment.empty()) {
        const auto share = share_in(entry);
        if (!share) return broken(entry, "has a share that is none");
        made.share = *share;
    }
    const bool known = *approvals >= 1 && *approvals <= kMostApprovals;
    if (made.number != all_.size() + 1 || !known || detail(entry, "digest") != made.digest().hex())
        return broken(entry, "is no proposal");
    all_.push_back(std::move(made));
    return base::ok();
}

Status ProposalLog::approve(const AuditEntry& entry) {
    auto* proposal = open_one(entry);
    if (proposal == nullptr || proposal->state != State::kWaiting ||
        detail(entry, "digest") != proposal->digest().hex())
        return broken(entry, "approves what does not wait");
    std::optional<base::TimePoint> switch_at;
    if (const auto text = detail(entry, kSwitchAt); !text.empty()) {
        const auto time = base::parse_iso8601(text);
        if (!time) return broken(entry, "has a time that is none");
        switch_at = *time;
    }
    auto& approvals = proposal->approvals;
    const bool again = std::any_of(approvals.begin(), approvals.end(),
                                   [&](const auto& one) { return one.who == entry.actor; });
    if (again || entry.actor == proposal->proposed_by)
        return broken(entry, "is by who may not approve it");
    if (!approvals.empty() && switch_at != proposal->switch_at)
        return broken(entry, "is for another time than the approval before it");
    proposal->switch_at = switch_at;
    approvals.push_back({entry.actor, entry.at, detail(entry, "comment")});
    if (switch_at && approvals.size() >= proposal->approvals_needed)
        proposal->state = State::kScheduled;
    return base::ok();
}

Status ProposalLog::end(const AuditEntry& entry) {
    auto* proposal = open_one(entry);
    if (proposal == nullptr) return broken(entry, "ends what does not wait");
    if (entry.action == kReject) {
        finish(*proposal, entry, State::kRejected);
        proposal->comment = detail(entry, "comment");
        return base::ok();
    }
    const auto state = detail(entry, "state");
    if (state != to_string(State::kExpired) && state != to_string(State::kVoid))
        return broken(entry, "has no end of a proposal");
    finish(*proposal, entry, state == to_string(State::kVoid) ? State::kVoid : State::kExpired);
    proposal->why = detail(entry, "why");
    return base::ok();
}

Status ProposalLog::change_champion(const AuditEntry& entry) {
    if (entry.details.contains(std::string(kNumber))) {
        auto* proposal = open_one(entry);
        const bool fits = proposal != nullptr && entry.action == "promote" &&
                          proposal->assignment.empty() &&
                          (!proposal->switch_at || *proposal->switch_at <= entry.at) &&
                          proposal->policy.value() == detail(entry, "model") &&
                          proposal->replaces.value() == detail(entry, "replaced") &&
                          proposal->certificate.hex() == detail(entry, "certificate") &&
                          proposal->approvals.size() >= proposal->approvals_needed;
        if (!fits) return broken(entry, "is by a proposal that does not permit it");
        finish(*proposal, entry, State::kApproved);
        proposal->promotion = number_in(entry, "promotion");
    }
    make_void(entry, kChampionChanged);
    return base::ok();
}

/// Takes in that an assignment began: by a proposal, if the entry names one.
Status ProposalLog::start_assignment(const AuditEntry& entry) {
    if (!entry.details.contains(std::string(kNumber))) return base::ok();
    auto* proposal = open_one(entry);
    bool fits = proposal != nullptr && !proposal->assignment.empty() &&
                (!proposal->switch_at || *proposal->switch_at <= entry.at) &&
                proposal->approvals.size() >= proposal->approvals_needed;
    auto arms = entry.details;
    arms.erase(std::string(kNumber));
    fits = fits && arms == details_of(assignment_of(*proposal));
    if (!fits) return broken(entry, "is by a proposal that does not permit it");
    finish(*proposal, entry, State::kApproved);
    return base::ok();
}

void ProposalLog::make_void(const AuditEntry& entry, std::string_view why) {
    for (auto& proposal : all_) {
        if (!proposal.is_open()) continue;
        finish(proposal, entry, State::kVoid);
        proposal.why = why;
    }
}

Status ProposalLog::add(const AuditEntry& entry) {
    const auto& action = entry.action;
    if (action == "promote" || action == "rollback") return change_champion(entry);
    if (action == DeploymentLog::kStartAssignment) return start_assignment(entry);
    if (action == kOpen) return open(entry);
    if (action == kApprove) return approve(entry);
    if (action == kReject || action == kEnd) return end(entry);
    if (action != "press_stop") return base::ok();
    const auto kind = domain::stop_kind_of(detail(entry, "kind"));
    if (kind && forbids_promotions(*kind)) make_void(entry, kRulesPressed);
    return base::ok();
}

domain::Assignment assignment_of(const PromotionProposal& proposal) {
    const double share = proposal.share;
    return {proposal.assignment, {}, {{proposal.replaces, 1 - share}, {proposal.policy, share}}};
}

std::map<std::string, std::string> opening_of(const PromotionProposal& proposal) {
    std::map<std::string, std::string> details{
        {std::string(ProposalLog::kNumber), std::to_string(proposal.number)},
        {"model", proposal.policy.value()},
        {"replaces", proposal.replaces.value()},
        {"champion", std::to_string(proposal.champion)},
        {"certificate", proposal.certificate.hex()},
        {"run", proposal.run},
        {"epoch", std::to_string(proposal.epoch)},
        {"approvals", std::to_string(proposal.approvals_needed)},
        {"expires", base::to_iso8601(proposal.expires)},
        {"digest", proposal.digest().hex()}};
    if (proposal.valid_until) details["valid_until"] = base::to_iso8601(*proposal.valid_until);
    if (!proposal.assignment.empty()) {
        details[std::string(kAssignment)] = proposal.assignment;
        details[std::string(kShare)] = fmt::format("{}", proposal.share);
    }
    return details;
}

std::map<std::string, std::string> approval_of(const PromotionProposal& proposal,
                                               const Judgement& by) {
    auto details = naming(proposal);
    details["comment"] = by.comment;
    if (by.switch_at) details[std::string(kSwitchAt)] = base::to_iso8601(*by.switch_at);
    return details;
}

std::map<std::string, std::string> end_of(const PromotionProposal& proposal, ProposalState state,
                                          std::string_view why, std::string_view comment) {
    auto details = naming(proposal);
    if (!comment.empty()) details["comment"] = comment;
    details["state"] = to_string(state);
    if (!why.empty()) details["why"] = why;
    return details;
}

std::string to_json(const PromotionProposal& proposal) {
    json::array approvals;
    for (const auto& [who, at, comment] : proposal.approvals)
        approvals.push_back({{"by", who}, {"at", base::to_iso8601(at)}, {"comment", comment}});
    json::value promotion = nullptr;
    if (proposal.promotion) promotion = *proposal.promotion;
    json::value share = nullptr;
    if (!proposal.assignment.empty()) share = proposal.share;
    return json::serialize(json::object{{"id", proposal.number},
                                        {"state", to_string(proposal.state)},
                                        {"why", text_or_null(proposal.why)},
                                        {"digest", proposal.digest().hex()},
                                        {"policy", proposal.policy.value()},
                                        {"replaces", proposal.replaces.value()},
                                        {"certificate", proposal.run},
                                        {"assignment", text_or_null(proposal.assignment)},
                                        {"share", std::move(share)},
                                        {"valid_until", time_or_null(proposal.valid_until)},
                                        {"epoch", proposal.epoch},
                                        {"proposed_by", proposal.proposed_by},
                                        {"at", base::to_iso8601(proposal.at)},
                                        {"expires", base::to_iso8601(proposal.expires)},
                                        {"approvals_needed", proposal.approvals_needed},
                                        {"approvals", std::move(approvals)},
                                        {"switch_at", time_or_null(proposal.switch_at)},
                                        {"ended_at", time_or_null(proposal.ended_at)},
                                        {"ended_by", text_or_null(proposal.ended_by)},
                                        {"comment", text_or_null(proposal.comment)},
                                        {"promotion", std::move(promotion)}});
}

}  // namespace rampart::registry
