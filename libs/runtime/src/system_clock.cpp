#include "rampart/runtime/system_clock.hpp"

#include <chrono>

namespace rampart::runtime {

base::TimePoint SystemClock::now() const {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return base::TimePoint::from_micros(
        std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count());
}

void ManualClock::advance_to(base::TimePoint time) {
    int64_t current = micros_.load();
    while (current < time.micros() && !micros_.compare_exchange_weak(current, time.micros())) {
    }
}

}  // namespace rampart::runtime
