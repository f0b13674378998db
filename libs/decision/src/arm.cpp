#include "rampart/decision/arm.hpp"

#include "rampart/base/bytes.hpp"
#include "rampart/base/digest.hpp"
#include "rampart/base/reasons.hpp"
#include "rampart/decision/reasons.hpp"

namespace rampart::decision {

double arm_draw(const ArmKey& key, const domain::PersonId& person, std::string_view assignment) {
    std::string message;
    base::append_field(message, "arm");
    base::append_field(message, person.value());
    base::append_field(message, assignment);
    return base::keyed_uniform(key.secret, message);
}

uint32_t arm_of(const domain::Assignment& assignment, double draw) {
    double sum = 0;
    for (uint32_t i = 0; i + 1 < assignment.arms.size(); ++i) {
        sum += assignment.arms[i].share;
        if (draw < sum) return i;
    }
    return static_cast<uint32_t>(assignment.arms.size() - 1);
}

domain::Arm arm_for(const ArmKey& key, const domain::Assignment& assignment,
                    const domain::PersonId& person) {
    const double draw = arm_draw(key, person, assignment.id);
    return {assignment.id, arm_of(assignment, draw), draw, key.id};
}

base::Status replay_arm(const domain::Decision& decision, const domain::Assignment& assignment,
                        const ArmKey& key) {
    if (!decision.arm || decision.arm->assignment != assignment.id) {
        return base::make_error(
            Reason::kOtherAssignment, "decision {}: its arm is of assignment '{}', not of '{}'",
            decision.id, decision.arm ? decision.arm->assignment : "", assignment.id);
    }
    if (decision.arm->key_id != key.id) {
        return base::make_error(base::Reason::kOtherKey,
                                "decision {}: its arm was drawn with key {}, not {}", decision.id,
                                decision.arm->key_id, key.id);
    }
    const auto again = arm_for(key, assignment, decision.application.person);
    if (again != *decision.arm) {
        return base::make_error(Reason::kReplayMismatch,
                                "decision {}: arm {} with draw {} is recorded, and replays as arm "
                                "{} with draw {}",
                                decision.id, decision.arm->number, decision.arm->draw, again.number,
                                again.draw);
    }
    const auto& policy = assignment.arms[again.number].policy;
    if (decision.policy != policy) {
        return base::make_error(base::Reason::kOtherPolicy,
                                "decision {} was made by policy {}; arm {} has policy {}",
                                decision.id, decision.policy, again.number, policy);
    }
    return base::ok();
}

}  // namespace rampart::decision
