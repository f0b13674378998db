#include "rampart/lease/timer.hpp"

#include <chrono>

namespace rampart::lease {

base::Duration SteadyTimer::now() const {
    const auto since = std::chrono::steady_clock::now().time_since_epoch();
    return base::Duration::micros(
        std::chrono::duration_cast<std::chrono::microseconds>(since).count());
}

}  // namespace rampart::lease
