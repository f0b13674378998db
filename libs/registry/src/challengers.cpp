#include <algorithm>

#include "rampart/certification/signer.hpp"
#include "rampart/decision/reason_codes.hpp"
#include "rampart/domain/reasons.hpp"
#include "registry_impl.hpp"

/// Policies that decide beside the champion: how an assignment begins and ends.
namespace rampart::registry {
namespace {

using base::Result;
using base::Status;

/// What the certificates of a challenger say, of each that compares it with the champion.
using Certificates = std::vector<VerifiedCertificate>;

/// Reads and verifies the certificates that compare the policy with the champion, the latest first.
/// Takes its time: without the lock, so that no stop and no rollback waits for it.
Result<Certificates> certificates_against(const ModelRegistry& registry,
                                          const domain::PolicyId& policy,
                                          const domain::PolicyId& champion,
                                          const base::VerifyingKey& current) {
    Status refused = base::make_error(Reason::kNotCertified,
                                      "policy {} has no certificate here that compares it with the "
                                      "champion {}",
                                      policy, champion);
    const auto keys = registry.verifying_keys(current);
    RAMPART_TRY(const auto stored, registry.certificates());
    Certificates found;
    for (auto info = stored.rbegin(); info != stored.rend(); ++info) {
        if (info->candidate != policy || info->reference != champion || !info->evidence) continue;
        RAMPART_TRY(const auto file, registry.certificate_file(info->id));
        RAMPART_TRY(const auto lines, registry.evidence_file(*info->evidence));
        auto verified = verify_certificate({file, lines, certification::signer_among(file, keys)});
        if (verified) {
            found.push_back(*std::move(verified));
        } else {
            refused = verified.error();
        }
    }
    if (found.empty()) return refused.error();
    return found;
}

/// Returns the certificates of each challenger of the assignment, in their order.
Result<std::vector<Certificates>> certificates_of(const ModelRegistry& registry,
                                                  const domain::Assignment& assignment,
                                                  const base::VerifyingKey& current) {
    std::vector<Certificates> all;
    const auto& arms = assignment.arms;
    for (size_t i = 1; i < arms.size(); ++i) {
        RAMPART_TRY(auto found,
                    certificates_against(registry, arms[i].policy, arms.front().policy, current));
        all.push_back(std::move(found));
    }
    return all;
}

}  // namespace

/// Checks all of an assignment but the certificates, and sets its begin. Returns the assignment in
/// force, if it is that one, said again.
Result<std::optional<AssignmentPeriod>> ModelRegistry::Impl::check_arms(
    domain::Assignment& assignment, base::TimePoint now) const {
    const auto& log = store->deployment();
    assignment.from = log.not_before_last(now);
    RAMPART_RETURN_IF_ERROR(domain::validate(assignment));
    const auto& arms = assignment.arms;
    if (const auto* known = log.find(assignment.id)) {
        if (!known->to && known->assignment.arms == arms) return std::optional(*known);
        return base::make_error(Reason::kAssignmentUsed,
                                "assignment {} was declared at {}: another one needs another id",
                                assignment.id, base::to_iso8601(known->assignment.from));
    }
    const auto* current = store->promotions().current();
    if (current == nullptr)
        return base::make_error(Reason::kNoChampion,
                                "there is no champion yet: declare the first policy");
    if (arms.front().policy != current->policy)
        return base::make_error(Reason::kStaleReference,
                                "the first arm is {}'s, but the champion is {}",
                                arms.front().policy, current->policy);
    RAMPART_RETURN_IF_ERROR(check_no_stop());
    for (size_t i = 1; i < arms.size(); ++i) {
        RAMPART_TRY(const auto loaded, load(arms[i].policy));  // registered, and undamaged
        RAMPART_RETURN_IF_ERROR(decision::check_explained(loaded.policy));
    }
    return std::optional<AssignmentPeriod>();
}

/// Returns the first of the certificates by which the policy could be promoted at `now`; else the
/// error of the last.
Result<VerifiedCertificate> ModelRegistry::Impl::check_challenger(
    const domain::PolicyId& policy, std::span<const VerifiedCertificate> compared,
    base::TimePoint now) const {
    Status refused = base::make_error(Reason::kNotCertified, "policy {} is not certified", policy);
    for (const auto& verified : compared) {
        refused = check_promotable(policy, verified, now);
        if (refused) return verified;
    }
    return refused.error();
}

Result<AssignmentPeriod> ModelRegistry::start_assignment(domain::Assignment assignment,
                                                         const base::VerifyingKey& current,
                                                         base::TimePoint now,
                                                         std::string_view actor,
                                                         std::string_view reason) {
    std::optional<AssignmentPeriod> known;
    {
        const std::lock_guard lock(impl_->mutex);
        RAMPART_TRY(known, impl_->check_arms(assignment, now));
    }
    if (known) return *std::move(known);
    RAMPART_TRY(const auto certificates, certificates_of(*this, assignment, current));
    const std::lock_guard lock(impl_->mutex);
    RAMPART_TRY(known, impl_->check_arms(assignment, now));
    if (known) return *std::move(known);
    for (size_t i = 1; i < assignment.arms.size(); ++i)
        RAMPART_RETURN_IF_ERROR(impl_->check_challenger(assignment.arms[i].policy,
                                                        certificates[i - 1], assignment.from));
    auto details = details_of(assignment);
    if (!reason.empty()) details["reason"] = reason;
    RAMPART_RETURN_IF_ERROR(impl_->store->commit(
        {}, assignment.from, actor, DeploymentLog::kStartAssignment, std::move(details)));
    return *impl_->store->deployment().in_force();
}

Result<PromotionProposal> ModelRegistry::propose_challenger(domain::Assignment assignment,
                                                            const ProposalTerms& terms,
                                                            const base::VerifyingKey& current,
                                                            base::TimePoint now,
                                                            std::string_view actor) {
    if (assignment.arms.size() > 2)
        return base::make_error(domain::Reason::kBadAssignment,
                                "assignment {}: {} arms; people approve one challenger at a time: "
                                "give one beside the champion",
                                assignment.id, assignment.arms.size());
    const auto check = [&]() -> Status {
        RAMPART_RETURN_IF_ERROR(impl_->end_lapsed(now));
        RAMPART_TRY(const auto known, impl_->check_arms(assignment, now));
        if (!known) return base::ok();
        return base::make_error(Reason::kAssignmentUsed, "assignment {} is in force already",
                                assignment.id);
    };
    {
        const std::lock_guard lock(impl_->mutex);
        RAMPART_RETURN_IF_ERROR(check());
    }
    RAMPART_TRY(const auto certificates, certificates_of(*this, assignment, current));
    const std::lock_guard lock(impl_->mutex);
    RAMPART_RETURN_IF_ERROR(check());
    const auto& challenger = assignment.arms[1];
    auto& store = *impl_->store;
    if (const auto* waits = store.proposals().open_for(assignment.id)) {
        if (waits->policy == challenger.policy && waits->share == challenger.share) return *waits;
        return base::make_error(Reason::kAssignmentUsed,
                                "proposal {} is of assignment {} with another arm: give another id",
                                waits->number, assignment.id);
    }
    const auto at = std::max(now, store.promotions().current()->at);
    RAMPART_TRY(const auto verified,
                impl_->check_challenger(challenger.policy, certificates[0], at));
    RAMPART_TRY(auto made, impl_->draft(challenger.policy, verified, terms, at, actor));
    made.assignment = assignment.id;
    made.share = challenger.share;
    RAMPART_RETURN_IF_ERROR(store.commit({}, at, actor, ProposalLog::kOpen, opening_of(made)));
    return store.proposals().all().back();
}

Result<AssignmentPeriod> ModelRegistry::end_assignment(base::TimePoint now, std::string_view actor,
                                                       std::string_view id,
                                                       std::string_view reason) {
    const std::lock_guard lock(impl_->mutex);
    const auto& log = impl_->store->deployment();
    const auto* period = log.in_force();
    if (period == nullptr || (!id.empty() && period->assignment.id != id))
        return base::make_error(
            Reason::kNoAssignment, "{} is in force: {}",
            id.empty() ? "no assignment of arms" : fmt::format("no assignment '{}'", id),
            period == nullptr ? "the champion alone decides"
                              : fmt::format("that is '{}'", period->assignment.id));
    std::map<std::string, std::string> details{{"assignment", period->assignment.id}};
    if (!reason.empty()) details["reason"] = reason;
    RAMPART_RETURN_IF_ERROR(impl_->store->commit(
        {}, log.not_before_last(now), actor, DeploymentLog::kEndAssignment, std::move(details)));
    return log.assignments().back();
}

}  // namespace rampart::registry
