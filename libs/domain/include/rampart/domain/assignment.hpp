#pragma once

#include <string>
#include <vector>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::domain {

/// A policy and the share of people that it decides about.
struct ArmShare {
    PolicyId policy;
    double share = 0;  // (0, 1)
    bool operator==(const ArmShare&) const = default;
};

/// Declaration that several policies decide side by side, each about a share of the people. Which
/// arm a person is in follows from a keyed draw of person and assignment (decision/arm.hpp), and
/// from nothing else; it stays the same as long as the assignment is in force. Other shares are
/// another assignment.
struct Assignment {
    std::string id;              // never used twice
    base::TimePoint from;        // when it was declared, by the service's clock
    std::vector<ArmShare> arms;  // 2 to kMaxArms; the first is the champion's
    bool operator==(const Assignment&) const = default;
};

/// How far the sum of the shares may be from 1, as numbers are rounded.
inline constexpr double kShareTolerance = 1e-9;

/// Checks ids, time, the number of arms, that each policy has one arm, and that shares lie in
/// (0, 1) and sum to 1. Errors: invalid_argument "bad_assignment"; those of check_id and
/// check_time.
base::Status validate(const Assignment& assignment);

}  // namespace rampart::domain
