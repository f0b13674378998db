#include "rampart/serving/event_window.hpp"

#include "rampart/serving/reasons.hpp"

namespace rampart::serving {

using base::Status;
using base::TimePoint;
using base::to_iso8601;

EventWindow read_event_window(config::Table table) {
    constexpr int64_t kMostDays = kWidestWindow.micros() / base::Duration::days(1).micros();
    return {base::Duration::days(table.integer("max_age_days", 0, kMostDays, 30)),
            base::Duration::days(table.integer("max_ahead_days", 0, kMostDays, 1))};
}

Status check_event_time(const domain::Application& application, TimePoint now,
                        const EventWindow& window) {
    const TimePoint first = now - window.max_age, last = now + window.max_ahead;
    if (first <= application.event_time && application.event_time <= last) return base::ok();
    return base::make_error(
        Reason::kEventTimeOutside,
        "event_time: {} of application '{}' is not within {} to {}; the clock here says {}. Send "
        "the "
        "time of the application, in UTC; to take in older or later ones, as a replay does, set "
        "event_time.max_age_days and event_time.max_ahead_days",
        to_iso8601(application.event_time), application.id, to_iso8601(first), to_iso8601(last),
        to_iso8601(now));
}

Status check_observed_at(const domain::Outcome& outcome, const domain::Decision& decision,
                         TimePoint now, const EventWindow& window) {
    const TimePoint decided = decision.application.event_time, last = now + window.max_ahead;
    if (base::day_of(outcome.observed_at) < base::day_of(decided)) {
        return base::make_error(Reason::kObservedBeforeDecision,
                                "observed_at: {} lies before the day of decision '{}', whose "
                                "application is of {}; send "
                                "the time when the outcome showed, in UTC",
                                to_iso8601(outcome.observed_at), outcome.decision,
                                to_iso8601(decided));
    }
    if (outcome.observed_at <= last) return base::ok();
    return base::make_error(
        Reason::kObservedInFuture,
        "observed_at: {} of decision '{}' is later than {}; the clock here says {}. Send outcomes "
        "when they show; a replay sets event_time.max_ahead_days",
        to_iso8601(outcome.observed_at), outcome.decision, to_iso8601(last), to_iso8601(now));
}

}  // namespace rampart::serving
