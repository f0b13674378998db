#pragma once

#include <optional>
#include <string>

#include "rampart/domain/decision.hpp"
#include "rampart/domain/override.hpp"

namespace rampart::domain {

/// A decision whose measure has matured. `value` is empty if no outcome arrived in time (and always
/// for declined applications, if the measure exists for approved ones only).
struct LabeledExample {
    Decision decision;  // as drawn, with the drawn action's propensity
    std::string measure;
    std::optional<double> value;
    uint32_t revision = 0;       // revision of the outcome that gave the value
    base::TimePoint matured_at;  // decision time + horizon + grace
    base::TimePoint known_at;  // when this version became known: matured_at, or later if corrected
    uint32_t version = 0;      // 0 at maturity, +1 for each later change
    bool censored = false;     // the last report says that no value will come; `value` is empty
    std::optional<Override> overridden{};  // the latest human override of the action; empty: none

    /// Returns the action that was carried out: the drawn one, or the one of the override.
    Action action_taken() const { return overridden ? overridden->action_taken : decision.action; }
    bool operator==(const LabeledExample&) const = default;
};

}  // namespace rampart::domain
