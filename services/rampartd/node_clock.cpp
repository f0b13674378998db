#include "services/rampartd/node_clock.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

Result<std::unique_ptr<NodeClock>> NodeClock::open(Options options, runtime::Clocks clocks,
                                                   std::optional<TimePoint> reached,
                                                   runtime::Metrics& metrics) {
    std::unique_ptr<NodeClock> clock(new NodeClock(metrics));
    if (options.event_time) {
        clock->manual_.emplace(reached.value_or(TimePoint::from_micros(0)));
        return clock;
    }
    // without the file (of a release before it) the loop's last time is the nearest that there is
    RAMPART_TRY(clock->guard_, runtime::ClockGuard::open(
                                   {options.file, options.max_downtime},
                                   clocks.wall != nullptr ? *clocks.wall : clock->wall_,
                                   clocks.boot != nullptr ? *clocks.boot : clock->boot_, reached));
    return clock;
}

TimePoint NodeClock::now() const { return manual_ ? manual_->now() : guard_->now(); }

void NodeClock::advance_to(TimePoint now) {
    if (manual_) manual_->advance_to(now);
}

Status NodeClock::check() {
    if (guard_ == nullptr) return base::ok();
    auto status = guard_->check();
    metrics_.gauge("rampart_clock_in_doubt", "1: the wall clock jumped and was not accepted yet.")
        .set(status ? 0 : 1);
    return status;
}

}  // namespace rampart::rampartd
