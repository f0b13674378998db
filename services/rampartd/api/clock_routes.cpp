#include "services/rampartd/api/clock_routes.hpp"

#include "services/rampartd/api/bodies.hpp"
#include "services/rampartd/reasons.hpp"

namespace rampart::rampartd {

using access::Scope;
using base::Result;
using base::Status;
using http::Lane;

Result<http::Response> ClockRoutes::handle_clock(const http::Request& request) const {
    if (!clock_.is_event_time()) {
        return base::make_error(
            Reason::kSystemClock,
            "time is the wall clock here; set clock.mode = \"event\" to replay a stream");
    }
    RAMPART_TRY(const auto members, text_members(request.body, {"now"}));
    const auto asked = base::parse_iso8601(members.at("now"));
    if (!asked) return asked.error().with_context("$.now");
    const auto time = *asked;
    constexpr int kMaxJumpMonths = 120;  // a mistyped year would let everything mature, for ever
    const auto reached = event_time_();
    if (reached && time > base::add_months(*reached, kMaxJumpMonths)) {
        return base::make_error(
            Reason::kClockJump,
            "$.now: {} is more than {} months after {}; move the clock in smaller steps",
            members.at("now"), kMaxJumpMonths, base::to_iso8601(*reached));
    }
    RAMPART_RETURN_IF_ERROR(advance_(time));
    return json_response(Json::object({{"now", base::to_iso8601(clock_.now())}}));
}

Result<http::Response> ClockRoutes::handle_acceptance(const http::Request& request) const {
    if (clock_.is_event_time()) {
        return base::make_error(
            Reason::kEventClock,
            "time moves by POST /v1/clock here; there is no wall clock to accept");
    }
    RAMPART_TRY(const auto members, text_members(request.body, {"reason"}));
    RAMPART_RETURN_IF_ERROR(check_reason(members));
    const Status doubt = clock_.check();
    if (doubt) {
        return base::make_error(Reason::kNoJump, "the wall clock is not in doubt; it says {}",
                                base::to_iso8601(clock_.now()));
    }
    const std::string wall = base::to_iso8601(clock_.guard()->wall());
    // who wants it is on record before anything is done at the time that is accepted
    RAMPART_RETURN_IF_ERROR(registry_.record_operation(
        clock_.now(), request.principal, "clock_accept",
        {{"accepted", wall}, {"found", doubt.error().message}, {"reason", members.at("reason")}}));
    RAMPART_RETURN_IF_ERROR(clock_.guard()->accept());
    return json_response(Json::object({{"accepted", wall}, {"found", doubt.error().message}}));
}

void ClockRoutes::add_to(http::Router& router) const {
    // may wait for a training run
    router.add(
        "POST", "/v1/clock", Scope::kOperate,
        [self = *this](const auto& r) { return respond(self.handle_clock(r)); },
        Lane::kAdministrative);
    router.add("POST", "/v1/clock/accept", Scope::kOperate,
               [self = *this](const auto& r) { return respond(self.handle_acceptance(r)); });
}

}  // namespace rampart::rampartd
