#pragma once

#include "rampart/base/clock.hpp"
#include "rampart/domain/ids.hpp"

namespace rampart::domain {

/// The decision and all that is known about it are to be forgotten, for ever: whoever keeps state
/// drops it, and takes in nothing about this id any more, whatever the order of arrival. Names the
/// decision and not the person, so that it tells nothing about anybody.
struct Erasure {
    DecisionId decision;
    base::TimePoint at;  // event time
    bool operator==(const Erasure&) const = default;
};

base::Status validate(const Erasure& erasure);  // id and time

}  // namespace rampart::domain
