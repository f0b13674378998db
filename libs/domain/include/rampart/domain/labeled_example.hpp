#pragma once

#include <optional>
#include <string>

#include "rampart/domain/decision.hpp"

namespace rampart::domain {

/// A decision whose measure has matured. `value` is empty when no outcome came in time (and always for
/// declined applications of measures that only approved ones can have).
struct LabeledExample {
    Decision decision;
    std::string measure;
    std::optional<double> value;
    uint32_t revision = 0;           // of the outcome that gave the value
    base::TimePoint matured_at;      // decision time + horizon + grace
    base::TimePoint known_at;        // when this version became known: matured_at, or later if corrected
    uint32_t version = 0;            // 0 at maturity, +1 for each later change
    bool operator==(const LabeledExample&) const = default;
};

}  // namespace rampart::domain
