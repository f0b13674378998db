#pragma once

#include <array>
#include <optional>

#include "leaf_values.hpp"
#include "rampart/base/result.hpp"

namespace rampart::constraints {

/// Fills in what follows from the log without outcomes.
void measure(const LeafView& view, LeafPlan& plan);

/// Returns whether at most the declared share of the outcomes is missing. An erased person is one
/// that was due and is missing, where outcomes are asked for at all.
bool enough_outcomes(const Settings& settings, const LeafPlan& plan);
base::Error too_many_missing(const LeafView& view);

/// Returns the number of persons with a known value that bets are planned for: with ranges that
/// are fixed beforehand the one to be expected, since how many were drawn to be approved, or were
/// erased, must not shape bets, nor refuse a test for free.
size_t planned_units(const Settings& settings, const LeafPlan& plan);

/// Fills in the figures of a leaf that come from the development set.
base::Status plan_leaf(const LeafView& view, const Outcomes& outcomes, LeafPlan& plan);

/// N and D of the requested ends, each computed once.
class SumsCache {
  public:
    SumsCache(const Program& program, const Settings& settings, const Plan& plan, const Log& log,
              const Outcomes& outcomes)
        : program_(program), settings_(settings), plan_(plan), log_(log), outcomes_(outcomes) {}

    const Sums& of(const End& end) {
        auto& slot = known_[2 * end.leaf + (end.upper ? 1 : 0)];
        if (!slot) {
            slot = sums_of(view_of(program_, settings_, log_, end.leaf, plan_.leaves[end.leaf]),
                           plan_.leaves[end.leaf], outcomes_, end.upper);
        }
        return *slot;
    }

  private:
    const Program& program_;
    const Settings& settings_;
    const Plan& plan_;
    const Log& log_;
    const Outcomes& outcomes_;
    std::array<std::optional<Sums>, 2 * kMaxLeaves> known_;
};

}  // namespace rampart::constraints
