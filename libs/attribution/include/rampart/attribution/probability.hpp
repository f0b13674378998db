#pragma once

#include <functional>
#include <optional>
#include <span>

#include "rampart/base/result.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/model/policy.hpp"

namespace rampart::attribution {

/// P(approve | x) in [0, 1] as a function of the features alone. x: one row, encoded by the
/// policy's schema.
using Probability = std::function<double(std::span<const float>)>;

/// Returns the P of the whole policy: every link with its score, calibration, mixture, rule,
/// exploration and trust region. `group` is kept, and read iff the policy is group-aware;
/// `explores` false: without exploration. Refers to the policy, which has to outlive it.
Probability served_probability(const model::Policy& policy, std::optional<size_t> group,
                               bool explores);

/// Returns the P that a decision was drawn by, everything but the features kept: the group, and
/// whether the day's exploration was spent. `row`: the decision's, encoded; `policy`: the one that
/// made it. Errors: failed_precondition "group_unknown"; data_loss "replay_mismatch": the policy
/// gives this row another P than the decision records, to the bit.
base::Result<Probability> probability_of(const domain::Decision& decision,
                                         const model::Policy& policy, std::span<const float> row,
                                         std::optional<size_t> group);

}  // namespace rampart::attribution
