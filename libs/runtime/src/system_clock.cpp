#include "rampart/runtime/system_clock.hpp"

#include <chrono>
#include <ctime>

namespace rampart::runtime {

base::TimePoint SystemClock::now() const {
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    return base::TimePoint::from_micros(
        std::chrono::duration_cast<std::chrono::microseconds>(since_epoch).count());
}

base::TimePoint BootClock::now() const {
    timespec time{};
    ::clock_gettime(CLOCK_BOOTTIME, &time);  // cannot fail on Linux since 2.6.39
    return base::TimePoint::from_micros(int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000);
}

void ManualClock::advance_to(base::TimePoint time) {
    int64_t current = micros_.load();
    while (current < time.micros() && !micros_.compare_exchange_weak(current, time.micros())) {
    }
}

}  // namespace rampart::runtime
