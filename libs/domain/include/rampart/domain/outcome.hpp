#pragma once

#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::domain {

/// What is reported later about a decision. (decision, measure, revision) identifies a report: the
/// same again is a duplicate, a higher revision corrects a lower one, whatever the order of
/// arrival.
struct Outcome {
    DecisionId decision;
    std::string measure;  // declared in the product, e.g. "repaid"
    uint32_t revision = 0;
    double value = 0;             // within the measure's declared range
    base::TimePoint observed_at;  // event time of the observation
    /// Observed until observed_at, and no value will come: paid off early, sold, moved away. Then
    /// `value` is 0 and means nothing. Who does know how it went reports the value instead.
    bool censored = false;
    bool operator==(const Outcome&) const = default;
};

base::Status validate(const Outcome& outcome);  // ids, limits, time, finite value, none if censored

}  // namespace rampart::domain
