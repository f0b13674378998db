#pragma once

#include <functional>

#include "rampart/base/clock.hpp"

namespace rampart::lease {

/// Monotonic time of this machine, from an arbitrary origin: leases are measured with it, never
/// compared with a wall clock. Thread safe.
class Timer {
  public:
    virtual ~Timer() = default;
    virtual base::Duration now() const = 0;
    /// Waits this long; returns false at once if the process is to stop.
    virtual bool wait(base::Duration duration) const = 0;
};

/// The machine's steady clock.
class SteadyTimer final : public Timer {
  public:
    /// Waits this long and returns true; returns false as soon as the process is to stop.
    using Wait = std::function<bool(base::Duration)>;
    explicit SteadyTimer(Wait wait) : wait_(std::move(wait)) {}
    base::Duration now() const override;
    bool wait(base::Duration duration) const override { return wait_(duration); }

  private:
    Wait wait_;
};

}  // namespace rampart::lease
