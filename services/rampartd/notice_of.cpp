#include "services/rampartd/notice_of.hpp"

#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

base::Result<notices::Notice> notice_of(Node& node, const domain::DecisionId& id,
                                        std::string_view language) {
    const auto& lender = node.settings().notices;
    if (!lender)
        return base::make_error(Reason::kNoNotices,
                                "the configuration has no [notices]: creditor, rights and the "
                                "lender's words for reasons are not known here");
    RAMPART_TRY(const auto decision, node.decision_of(id));
    RAMPART_TRY(const auto overridden, node.override_of(id));
    RAMPART_TRY(const auto loaded, node.registry().load_model(decision.policy));
    return notices::make_notice({decision, overridden, loaded.policy, node.now(), language},
                                *lender);
}

}  // namespace rampart::rampartd
