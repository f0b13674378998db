#pragma once

#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/domain/assignment.hpp"
#include "rampart/domain/decision.hpp"

namespace rampart::decision {

/// The secret behind arms and its id in records. Another one than that of the draws, and than that
/// of the split into development set and vault, so that arm, draw and split are independent. The
/// secret is never logged.
struct ArmKey {
    std::string id;
    std::string secret;
};

/// Returns the person's number in [0, 1) for an assignment: keyed_uniform(secret, field "arm",
/// field person, field id of the assignment), written as by base/bytes.hpp.
double arm_draw(const ArmKey& key, const domain::PersonId& person, std::string_view assignment);

/// Returns the position of the arm whose shares, added from the first on, are the first to exceed
/// the draw; where rounding leaves none, the last.
uint32_t arm_of(const domain::Assignment& assignment, double draw);

/// Returns the person's arm as a decision records it.
domain::Arm arm_for(const ArmKey& key, const domain::Assignment& assignment,
                    const domain::PersonId& person);

/// Checks that the decision's arm is the person's by this assignment, and that the arm's policy
/// made the decision; replay() checks the rest. Errors: data_loss "replay_mismatch" (another arm
/// or none), failed_precondition "other_key", "other_policy" (not the arm's), "other_assignment".
base::Status replay_arm(const domain::Decision& decision, const domain::Assignment& assignment,
                        const ArmKey& key);

}  // namespace rampart::decision
