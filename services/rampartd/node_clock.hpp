#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "rampart/base/clock.hpp"
#include "rampart/runtime/clock_guard.hpp"
#include "rampart/runtime/metrics.hpp"
#include "rampart/runtime/system_clock.hpp"

namespace rampart::rampartd {

/// What a node takes for the time: event time, which advance() sets, or the wall clock, as far as
/// it may be believed. Thread safe.
class NodeClock final : public base::Clock {
  public:
    struct Options {
        bool event_time = false;     // advance() sets it, not the wall clock
        std::filesystem::path file;  // as of ClockGuard
        base::Duration max_downtime = base::Duration::hours(24);
    };
    /// `reached`: how far the store has come; event time goes on there, and in a new store
    /// begins at epoch 0. The wall clock has to fit when the store was last used.
    /// `clocks`, where given, and `metrics` have to outlive it. Errors: ClockGuard::open's.
    static base::Result<std::unique_ptr<NodeClock>> open(Options options, runtime::Clocks clocks,
                                                         std::optional<base::TimePoint> reached,
                                                         runtime::Metrics& metrics);

    base::TimePoint now() const override;
    bool is_event_time() const { return guard_ == nullptr; }
    /// Moves event time; nothing by the wall clock.
    void advance_to(base::TimePoint now);

    /// ok: what time drives may be done. failed_precondition "clock_jump".
    base::Status check();
    /// Fails as check() does where no time is known that could be right.
    base::Status known() { return time_unknown() ? guard_->check() : base::ok(); }
    /// No time is known that could be right.
    bool time_unknown() const { return guard_ != nullptr && guard_->time_unknown(); }
    /// As ClockGuard::beat.
    base::Status beat() { return guard_ == nullptr ? base::ok() : guard_->beat(); }
    /// nullptr: event time.
    runtime::ClockGuard* guard() { return guard_.get(); }

  private:
    explicit NodeClock(runtime::Metrics& metrics) : metrics_(metrics) {}

    const runtime::SystemClock wall_;
    const runtime::BootClock boot_;
    runtime::Metrics& metrics_;
    std::optional<runtime::ManualClock> manual_;  // event time
    std::unique_ptr<runtime::ClockGuard> guard_;  // otherwise
};

}  // namespace rampart::rampartd
