#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

namespace rampart::runtime {

/// Where a node that goes by the wall clock has its time from. null: from the system.
struct Clocks {
    const base::Clock* wall = nullptr;
    const base::Clock* boot = nullptr;  // runs on evenly, whatever the wall clock is set to
};

/// The wall clock, and whether it may be believed: what matures, is trained, certified or let go at
/// a wrong time stays so.
///
/// It is in doubt, until accept(), from the moment that
/// - it is found to have been set by more than 10 minutes since open() or accept(), by the boot
///   clock;
/// - at open(), it is earlier than the store was last used, or later than that by more than
///   `max_downtime`. The store keeps that time in a file, which beat() renews while there is no
///   doubt; so a restart does not end the doubt where the time is still wrong.
///
/// Thread safe.
class ClockGuard final : public base::Clock {
  public:
    struct Options {
        std::filesystem::path file;  // keeps when the store was last used
        base::Duration max_downtime = base::Duration::hours(24);
    };
    /// `last_used`: where there is no file yet; nullopt: the store is new, any time is good. The
    /// clocks have to outlive the guard. data_loss "bad_clock_file".
    static base::Result<std::unique_ptr<ClockGuard>> open(Options options, const base::Clock& wall,
                                                          const base::Clock& boot,
                                                          std::optional<base::TimePoint> last_used);

    /// The wall clock; but after a step in a running process, until it is accepted or undone, the
    /// time that it was before with what has passed since by the boot clock.
    base::TimePoint now() const override;

    base::TimePoint wall() const { return wall_.now(); }

    /// ok: what time drives may be done. failed_precondition "clock_jump", with what was found.
    base::Status check();
    /// No time is known that could be right: check() fails since open().
    bool time_unknown() const;

    /// Writes down that the store is used now, unless that was done a moment ago or check() fails.
    base::Status beat();

    /// Takes the wall clock as it is now for right, whether it was in doubt or not.
    base::Status accept();

  private:
    ClockGuard(Options options, const base::Clock& wall, const base::Clock& boot);
    base::Duration since_boot() const { return wall_.now() - boot_.now(); }
    base::Status check_locked();
    base::Status write_locked(base::TimePoint time);

    const Options options_;
    const base::Clock& wall_;
    const base::Clock& boot_;
    mutable std::mutex mutex_;
    base::Duration agreed_;  // wall minus boot clock, when they were last known to be right
    std::optional<base::Error> doubt_;
    bool time_unknown_ = false;
    std::optional<base::TimePoint> written_at_;  // by the boot clock
};

}  // namespace rampart::runtime
