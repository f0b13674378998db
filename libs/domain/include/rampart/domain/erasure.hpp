#pragma once

#include "rampart/base/clock.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::domain {

/// Order to forget a decision and everything known about it, permanently: each reader drops its
/// state and ignores later records with this id, whatever the order of arrival. It names the
/// decision, not the person, so that it contains no personal data.
struct Erasure {
    DecisionId decision;
    base::TimePoint at;  // event time
    bool operator==(const Erasure&) const = default;
};

base::Status validate(const Erasure& erasure);  // checks id and time

}  // namespace rampart::domain
