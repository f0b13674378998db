#pragma once

#include <atomic>

#include "rampart/base/clock.hpp"

namespace rampart::runtime {

/// The wall clock, in UTC.
class SystemClock final : public base::Clock {
  public:
    base::TimePoint now() const override;
};

/// Time since the host was started, sleep included, as a time after 1970-01-01: advances evenly,
/// even if the wall clock is changed.
class BootClock final : public base::Clock {
  public:
    base::TimePoint now() const override;
};

/// A clock that moves only by advance_to(): event time, for the replay of a past stream. It never
/// goes back. Thread safe.
class ManualClock final : public base::Clock {
  public:
    explicit ManualClock(base::TimePoint start) : micros_(start.micros()) {}
    base::TimePoint now() const override { return base::TimePoint::from_micros(micros_.load()); }
    /// Moves to `time` if that is later than now(); otherwise nothing happens.
    void advance_to(base::TimePoint time);

  private:
    std::atomic<int64_t> micros_;
};

}  // namespace rampart::runtime
