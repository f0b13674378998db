// What the node does about its clock.
#include "rampart/registry/reasons.hpp"
#include "services/rampartd/node.hpp"
#include "services/rampartd/reasons.hpp"
#include "services/rampartd/route_bodies.hpp"

namespace rampart::rampartd {

using base::Result;
using base::Status;
using base::TimePoint;
namespace json = boost::json;

/// Event time goes on where it stood; a new store begins at the dawn of time. The wall clock has to
/// fit when the store was last used.
Status Node::open_clock() {
    if (settings_.event_clock) {
        auto manual = std::make_unique<runtime::ManualClock>(
            joiner_->clock().value_or(TimePoint::from_micros(0)));
        manual_clock_ = manual.get();
        clock_ = std::move(manual);
        return base::ok();
    }
    // without the file (of a release before it) the loop's last time is the nearest that there is
    RAMPART_TRY(auto guard, ClockGuard::open({settings_.store / "clock", settings_.max_downtime},
                                             clocks_.wall != nullptr ? *clocks_.wall : wall_clock_,
                                             clocks_.boot != nullptr ? *clocks_.boot : boot_clock_,
                                             joiner_->clock()));
    clock_guard_ = guard.get();
    clock_ = std::move(guard);
    return base::ok();
}

/// ok: what time drives may be done.
Status Node::check_clock() {
    if (clock_guard_ == nullptr) return base::ok();
    auto status = clock_guard_->check();
    metrics_.gauge("rampart_clock_in_doubt", "1: the wall clock jumped and was not accepted yet.")
        .set(status ? 0 : 1);
    return status;
}

Result<http::Response> Node::take_clock_acceptance(const http::Request& request) {
    if (clock_guard_ == nullptr) {
        return base::make_error(
            Reason::kEventClock,
            "time moves by POST /v1/clock here; there is no wall clock to accept");
    }
    RAMPART_TRY(const auto members, text_members(request.body, {"actor", "reason"}));
    if (members.at("reason").empty()) {
        return base::make_error(registry::Reason::kReasonMissing,
                                "$.reason is empty; say why for the audit log");
    }
    const Status doubt = check_clock();
    if (doubt) {
        return base::make_error(Reason::kNoJump, "the wall clock is not in doubt; it says {}",
                                base::to_iso8601(now()));
    }
    const std::string wall = base::to_iso8601(clock_guard_->wall());
    // who wants it is on record before anything is done at the time that is accepted
    RAMPART_RETURN_IF_ERROR(registry_->record_operation(
        clock_->now(), members.at("actor"), "clock_accept",
        {{"accepted", wall}, {"found", doubt.error().message}, {"reason", members.at("reason")}}));
    RAMPART_RETURN_IF_ERROR(clock_guard_->accept());
    return json_response(json::object{{"accepted", wall}, {"found", doubt.error().message}});
}

}  // namespace rampart::rampartd
