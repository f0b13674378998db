// What the node does about champions after their promotion.
#include "rampart/champion_monitor/monitor_report.hpp"
#include "services/rampartd/node.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;

/// Looks are due at times of their own, so that the same stream has the same ones however the clock
/// moves. A look comes before a training run of the same instant: no candidate is compared with a
/// champion that has to go.
Status Node::train_and_watch(TimePoint now) {
    const auto clock = joiner_->clock();
    if (clock && settings_.monitor.enabled) {
        // the look of the last advance, if a crash came before its end
        const auto last = monitor_->last_look();
        if (monitor_->is_due(*clock) && (!last || last->at < *clock))
            RAMPART_RETURN_IF_ERROR(look(*clock));
        for (const TimePoint due : monitor_->due(*clock, now)) {
            RAMPART_RETURN_IF_ERROR(trainer_->advance(due - base::Duration::micros(1)));
            RAMPART_RETURN_IF_ERROR(joiner_->advance(due).map([](size_t) {}));
            RAMPART_RETURN_IF_ERROR(look(due));
        }
    }
    return trainer_->advance(now);
}

Status Node::look(TimePoint t) {
    RAMPART_TRY(const auto look, monitor_->look(t));
    return look.rolled_back ? serve_champion() : base::ok();
}

Result<std::string> Node::monitor_report() {
    if (!monitor_) {
        return champion_monitor::to_json(
            settings_.monitor, std::nullopt,
            std::string("another node of the group trains and watches"));
    }
    if (!settings_.monitor.enabled) {
        return champion_monitor::to_json(settings_.monitor, std::nullopt,
                                         std::string("monitor.enabled is false"));
    }
    auto look = monitor_->last_look();
    if (const auto clock = joiner_->clock(); !look && clock) {
        RAMPART_TRY(look, monitor_->observe(*clock));
    }
    return champion_monitor::to_json(settings_.monitor, look);
}

Result<http::Response> Node::show_monitor() {
    http::Response response;
    RAMPART_TRY(response.body, monitor_report());
    return response;
}

}  // namespace rampart::rampartd
