#pragma once

#include <string>
#include <string_view>

#include "rampart/base/clock.hpp"
#include "rampart/base/result.hpp"

/// Cursors of lists that are in the order of a time and an id: "MICROSECONDS.ID".
namespace rampart::rampartd {

struct TimePlace {
    base::TimePoint time;
    std::string id;
    bool operator==(const TimePlace&) const = default;
};

std::string time_cursor(base::TimePoint time, std::string_view id);

/// Reads a cursor. Errors: invalid_argument "bad_usage"; those of domain::check_id for the id.
base::Result<TimePlace> read_time_cursor(std::string_view cursor);

}  // namespace rampart::rampartd
