#include "services/rampartd/notice_of.hpp"

#include "services/rampartd/explanation_document.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

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
    RAMPART_TRY(const auto overridden, node.override_of(id));
    RAMPART_TRY(const auto loaded, node.load_model(decision.policy));
    notices::NoticeInput input{decision, overridden, loaded.policy, {}, node.now(), language};
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
