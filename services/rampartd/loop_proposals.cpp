// Proposals of the node that trains: what people say of them, and what time makes of them.
#include <algorithm>

#include "rampart/registry/reasons.hpp"
#include "services/rampartd/loop.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

namespace {

/// Checks that a proposal was made for as many approvals as are wanted now.
Status check_terms(const registry::ModelRegistry& registry, const Settings& settings,
                   uint64_t number, TimePoint now) {
    const unsigned wanted = settings.training.terms.approvals;
    RAMPART_TRY(const auto all, registry.proposals(now));
    for (const auto& one : all) {
        if (one.number == number && one.approvals_needed < wanted)
            return base::make_error(registry::Reason::kProposalDiffers,
                                    "proposal {} was made for {} approval, and training.approvals "
                                    "is {} now: reject it, and propose the policy again",
                                    number, one.approvals_needed, wanted);
    }
    return base::ok();
}

}  // namespace

/// Puts on record which proposals time has ended, and promotes the first of those whose time has
/// come and that may be promoted, where the clock is not in doubt, and this node still trains.
Status Loop::move_proposals() {
    if (!trains() || !deps_.clock.check()) return base::ok();
    auto& registry = deps_.stores.registry();
    const auto now = deps_.clock.now();
    RAMPART_RETURN_IF_ERROR(registry.end_lapsed_proposals(now));
    RAMPART_TRY(auto due, registry.proposals(now));
    std::erase_if(due, [&](const auto& one) {
        return one.state != registry::ProposalState::kScheduled || *one.switch_at > now;
    });
    if (due.empty()) return base::ok();
    RAMPART_RETURN_IF_ERROR(check_trains());
    std::stable_sort(due.begin(), due.end(),
                     [](const auto& a, const auto& b) { return *a.switch_at < *b.switch_at; });
    Status first_failed;
    for (const auto& one : due) {
        const auto switched = switch_to(one, now);
        if (!switched && first_failed) first_failed = switched.error();
        if (switched && *switched) return deps_.champion.serve();
    }
    return first_failed;
}

Result<bool> Loop::switch_to(const registry::PromotionProposal& proposal, TimePoint now) {
    auto& registry = deps_.stores.registry();
    RAMPART_RETURN_IF_ERROR(check_terms(registry, deps_.settings, proposal.number, now));
    return registry.switch_scheduled(proposal.number, now, deps_.keys.signing.public_key());
}

Result<registry::PromotionProposal> Loop::approve(uint64_t number, registry::Judgement by) {
    RAMPART_RETURN_IF_ERROR(check_trains());
    RAMPART_RETURN_IF_ERROR(deps_.clock.check());  // else nothing says whether it has expired
    by.at = deps_.clock.now();
    RAMPART_RETURN_IF_ERROR(check_terms(deps_.stores.registry(), deps_.settings, number, by.at));
    RAMPART_TRY(auto proposal, deps_.stores.registry().approve_proposal(
                                   number, by, deps_.keys.signing.public_key()));
    RAMPART_RETURN_IF_ERROR(deps_.champion.serve());
    return proposal;
}

Result<registry::PromotionProposal> Loop::reject(uint64_t number, registry::Judgement by) {
    RAMPART_RETURN_IF_ERROR(check_trains());
    RAMPART_RETURN_IF_ERROR(deps_.clock.check());
    by.at = deps_.clock.now();
    return deps_.stores.registry().reject_proposal(number, by);
}

}  // namespace rampart::rampartd
