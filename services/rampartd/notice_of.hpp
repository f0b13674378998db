#pragma once

#include <string_view>

#include "rampart/notices/notice.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {

/// Returns the data of a decision's adverse-action notice, dated now, with the reasons of its
/// stored explanation; `language` empty: the usual one. Errors: failed_precondition "no_notices":
/// the configuration has no [notices]; serving::DecisionService::find's; Node::joined_of's;
/// registry::ModelRegistry::load_model's; Explanations::of's and cited_in()'s;
/// notices::make_notice's.
base::Result<notices::Notice> notice_of(Node& node, const domain::DecisionId& id,
                                        std::string_view language);

}  // namespace rampart::rampartd
