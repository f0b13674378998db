#pragma once

#include <string>

#include "rampart/base/clock.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::domain {

/// What is reported later about a decision. (decision, measure, revision) identifies a report: the same
/// again is a duplicate, a higher revision corrects a lower one, whatever the order of arrival.
struct Outcome {
    DecisionId decision;
    std::string measure;          // declared in the product, e.g. "repaid"
    uint32_t revision = 0;
    double value = 0;             // within the measure's declared range
    base::TimePoint observed_at;  // event time of the observation
    bool operator==(const Outcome&) const = default;
};

base::Status validate(const Outcome& outcome);  // ids, limits, finite value

}  // namespace rampart::domain
