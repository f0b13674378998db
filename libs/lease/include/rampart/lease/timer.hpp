#pragma once

#include <functional>

#include "rampart/base/clock.hpp"

namespace rampart::lease {

/// Time as it passes on this machine, from some moment on and never backwards: leases are watched,
/// never compared with a wall clock. Thread safe.
class Timer {
  public:
    virtual ~Timer() = default;
    virtual base::Duration now() const = 0;
    /// Returns after so long, or at once with false when the process is told to stop.
    virtual bool wait(base::Duration duration) const = 0;
};

/// The machine's steady clock.
class SteadyTimer final : public Timer {
  public:
    /// Waits so long and returns true, or returns false as soon as the process is to stop.
    using Wait = std::function<bool(base::Duration)>;
    explicit SteadyTimer(Wait wait) : wait_(std::move(wait)) {}
    base::Duration now() const override;
    bool wait(base::Duration duration) const override { return wait_(duration); }

  private:
    Wait wait_;
};

}  // namespace rampart::lease
