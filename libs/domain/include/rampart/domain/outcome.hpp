#pragma once

#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::domain {

/// A later report about a decision, identified by (decision, measure, revision): a second report
/// with the same three is a duplicate, and a higher revision corrects a lower one, whatever the
/// order of arrival.
struct Outcome {
    DecisionId decision;
    std::string measure;  // declared in the product, e.g. "repaid"
    uint32_t revision = 0;
    double value = 0;             // within the measure's declared range
    base::TimePoint observed_at;  // event time of the observation
    /// Observed until observed_at, and no value will come: paid off early, sold, moved away.
    /// `value` is then 0 and has no meaning. If the result is known, report the value instead.
    bool censored = false;
    bool operator==(const Outcome&) const = default;
};

base::Status validate(const Outcome& outcome);  // checks ids, limits, time, value (0 if censored)

}  // namespace rampart::domain
