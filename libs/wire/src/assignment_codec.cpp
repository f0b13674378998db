#include "rampart/wire/assignment_codec.hpp"

#include "parse_message.hpp"
#include "rampart/v1/assignment.pb.h"

namespace rampart::wire {

std::string encode(const domain::Assignment& assignment) {
    v1::Assignment message;
    message.set_assignment_id(assignment.id);
    message.set_from_micros(assignment.from.micros());
    for (const auto& [policy, share] : assignment.arms) {
        auto* arm = message.add_arms();
        arm->set_policy_id(policy.value());
        arm->set_share(share);
    }
    return message.SerializeAsString();
}

base::Result<domain::Assignment> decode_assignment(std::string_view bytes) {
    v1::Assignment message;
    RAMPART_RETURN_IF_ERROR(parse(kAssignmentSchema, bytes, message));
    domain::Assignment assignment;
    assignment.id = message.assignment_id();
    assignment.from = base::TimePoint::from_micros(message.from_micros());
    for (const auto& arm : message.arms()) {
        assignment.arms.push_back({domain::PolicyId(arm.policy_id()), arm.share()});
    }
    RAMPART_RETURN_IF_ERROR(domain::validate(assignment));
    return assignment;
}

}  // namespace rampart::wire
