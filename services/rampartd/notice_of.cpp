#include "services/rampartd/notice_of.hpp"

#include <algorithm>

#include "rampart/joiner/join_state.hpp"
#include "services/rampartd/explanation_document.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using domain::Action;

namespace {

std::optional<domain::Override> answer_in(const joiner::JoinState& state,
                                          const domain::DecisionId& id) {
    const auto* answer = joiner::last_answer(state);
    if (answer == nullptr) return std::nullopt;
    return domain::Override{
        id, answer->revision, answer->action, answer->actor, answer->reason, answer->at};
}

/// Returns how the last review stands that people opened; nullopt: they opened none, or it is not
/// so that a decline was reviewed and stands.
std::optional<notices::Reviewed> review_in(const joiner::JoinState& state,
                                           const domain::Decision& decision) {
    const auto& taken = state.taken;
    const auto refers = [](const auto& one) { return one.action == Action::kRefer; };
    const auto declines = [](const auto& one) { return one.action == Action::kDecline; };
    const auto review = std::find_if(taken.rbegin(), taken.rend(), refers);
    if (review == taken.rend()) return std::nullopt;
    if (const auto open = joiner::open_review(state, decision))
        return notices::Reviewed{true, open->since};
    const auto answer = review.base();  // behind the last review there are answers alone
    const auto before = std::find_if_not(review, taken.rend(), refers);
    const auto reviewed = before == taken.rend() ? decision.action : before->action;
    if (reviewed != Action::kDecline || !std::all_of(answer, taken.end(), declines))
        return std::nullopt;
    return notices::Reviewed{false, answer->at};
}

}  // namespace

base::Result<notices::Notice> notice_of(Node& node, const domain::DecisionId& id,
                                        std::string_view language) {
    const auto& lender = node.settings().notices;
    if (!lender)
        return base::make_error(Reason::kNoNotices,
                                "the configuration has no [notices]: creditor, rights and the "
                                "lender's words for reasons are not known here");
    RAMPART_TRY(const auto decision, node.decisions().find(id));
    if (!node.settings().log.roles.join)
        return base::make_error(Reason::kNoticeNeedsJoin,
                                "this node decides, and does not join: overrides, which forbid a "
                                "letter, are not known here");
    RAMPART_TRY(const auto joined, node.joined_of(id));
    const auto state = joined.value_or(joiner::JoinState());
    const auto overridden = answer_in(state, id);
    RAMPART_TRY(const auto loaded, node.load_model(decision.policy));
    notices::NoticeInput input{
        decision, overridden, loaded.policy, {}, node.now(), language, review_in(state, decision)};
    RAMPART_RETURN_IF_ERROR(notices::check_notice(input, *lender));
    std::vector<notices::Cited> cited;
    // a decline by the draw alone has no feature as its reason
    if (decision.action == domain::Action::kDecline &&
        notices::draw_part(decision) != notices::DrawPart::kAlone) {
        RAMPART_TRY(const auto explanation, node.explanations().of(id));
        RAMPART_TRY(cited, cited_in(explanation));
    }
    input.cited = cited;
    return notices::make_notice(input, *lender);
}

}  // namespace rampart::rampartd
