#pragma once

namespace rampart::stats {

/// All real numbers from lo to hi. An end may be infinite: nothing is known on that side.
struct Interval {
    double lo = 0, hi = 0;
    bool operator==(const Interval&) const = default;
};

}  // namespace rampart::stats
