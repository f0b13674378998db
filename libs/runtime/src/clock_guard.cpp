#include "rampart/runtime/clock_guard.hpp"

#include "rampart/base/file.hpp"
#include "rampart/base/log.hpp"
#include "rampart/runtime/reasons.hpp"

namespace rampart::runtime {

using base::Duration;
using base::Result;
using base::Status;
using base::TimePoint;
using base::to_iso8601;

namespace {

constexpr base::Logger kLog("runtime");
constexpr Duration kMostStep = Duration::seconds(600);
constexpr Duration kBetweenBeats = Duration::seconds(10);
constexpr std::string_view kStopped =
    "nothing matures, is trained, watched or let go by age until the clock is right and "
    "'rampart clock accept' says so (ops/runbooks/README.md); deciding goes on";

/// nullopt: there is no such file.
Result<std::optional<TimePoint>> read_time(const std::filesystem::path& file) {
    std::error_code failure;
    if (!std::filesystem::exists(file, failure)) return std::optional<TimePoint>();
    RAMPART_TRY(auto text, base::read_file(file, 100));
    text.erase(std::min(text.find('\n'), text.size()));
    const auto time = base::parse_iso8601(text);
    if (time) return std::optional(*time);
    return base::make_error(Reason::kBadClockFile,
                            "'{}' says when the store was last used, and holds no time: write that "
                            "time into it, like {}",
                            file.string(), to_iso8601(TimePoint()));
}

std::string seconds_of(Duration duration) {
    return fmt::format("{} s", duration.micros() / 1'000'000);
}

}  // namespace

ClockGuard::ClockGuard(Options options, const base::Clock& wall, const base::Clock& boot)
    : options_(std::move(options)), wall_(wall), boot_(boot), agreed_(since_boot()) {}

Result<std::unique_ptr<ClockGuard>> ClockGuard::open(Options options, const base::Clock& wall,
                                                     const base::Clock& boot,
                                                     std::optional<TimePoint> last_used) {
    RAMPART_TRY(const auto kept, read_time(options.file));
    std::unique_ptr<ClockGuard> guard(new ClockGuard(std::move(options), wall, boot));
    if (kept) last_used = kept;
    const TimePoint now = wall.now();
    const Duration most = guard->options_.max_downtime;
    if (!last_used || (*last_used <= now && now <= *last_used + most)) return guard;
    guard->time_unknown_ = true;
    guard->doubt_ = base::make_error(
        Reason::kClockJump, "the wall clock says {}, and the store was last used at {}: {}; {}",
        to_iso8601(now), to_iso8601(*last_used),
        now < *last_used ? "time went back"
                         : fmt::format("more than clock.max_downtime_hours ({}) later",
                                       most.micros() / Duration::hours(1).micros()),
        kStopped);
    kLog.error("msg=\"{}\" reason=clock_jump", guard->doubt_->message);
    return guard;
}

TimePoint ClockGuard::now() const {
    const std::lock_guard lock(mutex_);
    const TimePoint wall = wall_.now(), expected = boot_.now() + agreed_;
    const Duration step = wall < expected ? expected - wall : wall - expected;
    return step <= kMostStep || time_unknown_ ? wall : expected;
}

Status ClockGuard::check() {
    const std::lock_guard lock(mutex_);
    return check_locked();
}

Status ClockGuard::check_locked() {
    if (doubt_) return *doubt_;
    const TimePoint wall = wall_.now(), expected = boot_.now() + agreed_;
    const Duration step = wall < expected ? expected - wall : wall - expected;
    if (step <= kMostStep) return base::ok();
    doubt_ = base::make_error(
        Reason::kClockJump,
        "the wall clock was set {} by {}: it says {}, and by the boot clock it is {}; {}",
        wall < expected ? "back" : "forward", seconds_of(step), to_iso8601(wall),
        to_iso8601(expected), kStopped);
    kLog.error("msg=\"{}\" reason=clock_jump", doubt_->message);
    return *doubt_;
}

bool ClockGuard::time_unknown() const {
    const std::lock_guard lock(mutex_);
    return time_unknown_;
}

Status ClockGuard::write_locked(TimePoint time) {
    RAMPART_RETURN_IF_ERROR(base::write_file_atomically(options_.file, to_iso8601(time) + "\n"));
    written_at_ = boot_.now();
    return base::ok();
}

Status ClockGuard::beat() {
    const std::lock_guard lock(mutex_);
    if (!check_locked()) return base::ok();
    if (written_at_ && boot_.now() - *written_at_ < kBetweenBeats) return base::ok();
    return write_locked(wall_.now());
}

Status ClockGuard::accept() {
    const std::lock_guard lock(mutex_);
    // first: what is not on the disk would be in doubt again after a restart
    RAMPART_RETURN_IF_ERROR(write_locked(wall_.now()));
    agreed_ = since_boot();
    doubt_.reset();
    time_unknown_ = false;
    return base::ok();
}

}  // namespace rampart::runtime
