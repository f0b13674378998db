#pragma once

#include <atomic>

#include "rampart/base/clock.hpp"

/// Clocks that a test sets.
namespace rampart::support {

/// A clock with a time that the test sets, also back in time. Thread safe.
class SetClock final : public base::Clock {
  public:
    explicit SetClock(base::TimePoint time) : micros_(time.micros()) {}
    base::TimePoint now() const override { return base::TimePoint::from_micros(micros_); }
    void move(base::Duration by) { micros_ += by.micros(); }

  private:
    std::atomic<int64_t> micros_;
};

/// A host with clocks that the test sets.
struct Host {
    SetClock wall{base::parse_iso8601("2005-04-01T10:00:00Z").value()};
    SetClock boot{base::TimePoint::from_micros(77)};
    void pass(base::Duration time) {
        wall.move(time);
        boot.move(time);
    }
};

}  // namespace rampart::support
