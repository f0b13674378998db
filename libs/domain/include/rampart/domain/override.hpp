#pragma once

#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/domain/decision.hpp"

namespace rampart::domain {

/// A person did otherwise than was drawn: granted what was drawn as a decline, or the other way
/// round. (decision, revision) identifies it: the same again is a duplicate, a higher revision
/// counts instead of a lower one, whatever the order of arrival; one that takes the drawn action
/// withdraws it.
///
/// Intention to treat: the decision keeps the action that was drawn and its propensity, and what
/// becomes of the applicant counts for that action. So an override biases no estimate, as long as
/// people would treat the same applicant, with the same draw, alike under any policy.
struct Override {
    DecisionId decision;
    uint32_t revision = 0;
    Action action_taken = Action::kDecline;
    std::string actor;   // a role or an id of who decided so, "underwriter-17"
    std::string reason;  // the lender's own code, "income_not_proven"
    base::TimePoint at;  // event time
    bool operator==(const Override&) const = default;
};

base::Status validate(const Override& taken);  // ids, limits, time

}  // namespace rampart::domain
