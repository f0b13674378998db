#pragma once

#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/domain/decision.hpp"

namespace rampart::domain {

/// A person changed the drawn action: approved a drawn decline, or declined a drawn approval; or
/// refers a decision to people, which opens a review. Identified by (decision, revision): the same
/// again is a duplicate, and a higher revision replaces a lower one, whatever the order of arrival;
/// one to the drawn action withdraws the earlier one.
///
/// Intention to treat: the decision keeps its drawn action and propensity, and the applicant's
/// outcome counts for that action. So overrides bias no estimate, as long as people would treat the
/// same applicant with the same draw alike under any policy.
struct Override {
    DecisionId decision;
    uint32_t revision = 0;
    Action action_taken = Action::kDecline;
    std::string actor;   // role or id of the person who decided, "underwriter-17"
    std::string reason;  // the lender's own code, "income_not_proven"
    base::TimePoint at;  // event time
    bool operator==(const Override&) const = default;
};

base::Status validate(const Override& taken);  // checks ids, limits, time

}  // namespace rampart::domain
