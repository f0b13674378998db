#pragma once

namespace rampart::planted {

/// The planted fault: interval.hpp defines the same name.
struct Interval {
    int first = 0, last = 0;
};

}  // namespace rampart::planted
