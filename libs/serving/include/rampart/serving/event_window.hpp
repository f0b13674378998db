#pragma once

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"
#include "rampart/config/table.hpp"
#include "rampart/domain/decision.hpp"
#include "rampart/domain/outcome.hpp"

namespace rampart::serving {

inline constexpr base::Duration kWidestWindow = base::Duration::days(36'500);

/// How far the times that clients send may lie from the service's clock. What replays the past
/// declares more.
struct EventWindow {
    base::Duration max_age = base::Duration::days(30);
    base::Duration max_ahead = base::Duration::days(1);
};

/// Reads [event_time]: max_age_days, max_ahead_days.
EventWindow read_event_window(config::Table table);

/// out_of_range "event_time_outside": the application is not of now - max_age to now + max_ahead.
base::Status check_event_time(const domain::Application& application, base::TimePoint now,
                              const EventWindow& window);

/// out_of_range "observed_before_decision": on an earlier day (UTC) than the event time of the
/// application that was decided; days, since many reports tell no hour. "observed_in_future": later
/// than now + max_ahead.
base::Status check_observed_at(const domain::Outcome& outcome, const domain::Decision& decision,
                               base::TimePoint now, const EventWindow& window);

}  // namespace rampart::serving
