#pragma once

namespace rampart::planted {

struct Interval {
    double low = 0, high = 0;
};

}  // namespace rampart::planted
