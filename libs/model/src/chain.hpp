#pragma once

#include <span>

#include "group_blind_adjustments.hpp"
#include "rampart/model/policy.hpp"

/// What each link of a policy adds to its output, for one row and for many alike.
namespace rampart::model {

/// What one learned link says of a row by itself.
struct LinkStep {
    double score = 0;   // P(favourable | x), calibrated; of a mixture the mean
    double ramped = 0;  // P(approve | x) before exploration and trust region
};

/// Returns what a link without members says. `raw`: score of its ensemble; `adjustments`: nullptr
/// where it has none.
LinkStep step_of(const LearnedLink& link, double raw, const GroupBlindAdjustments* adjustments,
                 std::span<const float> row, size_t group);

/// Sets the output to what the declared bootstrap says of its feature's value.
void begin_chain(PolicyOutput& out, const BootstrapLink& link, float value);
/// Puts a link on what those before it said: exploration, then the trust region.
void add_link(PolicyOutput& out, const LearnedLink& link, bool first, const LinkStep& step);

}  // namespace rampart::model
