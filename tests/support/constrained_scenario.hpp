#pragma once

#include <limits>

#include "rampart/certification/constraint_set.hpp"
#include "support/gate_scenario.hpp"

namespace rampart::test {

/// Labels, favourable where the impact is a gain, and the records that meet the conditions of the
/// configured constraints.
inline void constrain(ope::LoggedFeedback& f, const certification::GateConfig& config) {
    const auto set = certification::ConstraintSet::compile(config).value();
    constraints::People people{.records = f.decisions.size()};
    for (const ope::Group& group : f.decisions.groups) {
        people.groups.push_back({group.name, group.records});
    }
    f.decisions.conditions = set.conditions_met(people).value();
    f.decisions.has_label = f.decisions.has_impact;
    f.label.clear();
    for (size_t i = 0; i < f.impact.size(); ++i) {
        f.label.push_back(f.decisions.has_impact[i] != 0
                              ? (f.impact[i] > 0 ? 1.0 : 0.0)
                              : std::numeric_limits<double>::quiet_NaN());
    }
}

inline constexpr std::string_view kApprovalGap =
    "abs(mean(decision | group = \"women\") - mean(decision | group = \"men\"))";

}  // namespace rampart::test
