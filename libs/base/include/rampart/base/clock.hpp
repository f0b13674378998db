#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rampart/base/result.hpp"
#include "rampart/base/strong_type.hpp"

namespace rampart::base {

/// Length of time in microseconds. Calendar months are not of fixed length: see add_months.
class Duration {
  public:
    Duration() = default;
    static constexpr Duration micros(int64_t n) { return Duration(n); }
    static constexpr Duration seconds(int64_t n) { return Duration(n * 1'000'000); }
    static constexpr Duration hours(int64_t n) { return seconds(n * 3600); }
    static constexpr Duration days(int64_t n) { return hours(n * 24); }

    constexpr int64_t micros() const { return micros_; }
    constexpr auto operator<=>(const Duration&) const = default;

  private:
    constexpr explicit Duration(int64_t micros) : micros_(micros) {}
    int64_t micros_ = 0;
};

/// Point in time: microseconds since 1970-01-01 UTC. One type for event time and arrival time.
class TimePoint {
  public:
    TimePoint() = default;
    static constexpr TimePoint from_micros(int64_t n) { return TimePoint(n); }

    constexpr int64_t micros() const { return micros_; }
    constexpr auto operator<=>(const TimePoint&) const = default;
    constexpr TimePoint operator+(Duration d) const { return TimePoint(micros_ + d.micros()); }
    constexpr TimePoint operator-(Duration d) const { return TimePoint(micros_ - d.micros()); }
    constexpr Duration operator-(TimePoint t) const {
        return Duration::micros(micros_ - t.micros_);
    }

  private:
    constexpr explicit TimePoint(int64_t micros) : micros_(micros) {}
    int64_t micros_ = 0;
};

/// The range of times that ISO 8601 writes with a four-digit year, from 1900 on. Times in records
/// lie in this range.
inline constexpr TimePoint kFirstTime = TimePoint::from_micros(-2'208'988'800'000'000);
inline constexpr TimePoint kLastTime = TimePoint::from_micros(253'402'300'799'999'999);
/// Fails with out_of_range "bad_time" outside that range; the message names `what`.
Status check_time(std::string_view what, TimePoint time);

/// Formats as "2005-04-01T00:00:00Z", with a fraction ("….250000Z") only if it is not zero.
std::string to_iso8601(TimePoint time);

/// Parses "2005-04-01", "2005-04-01T10:00:00Z" or "2005-04-01T10:00:00.5Z"; years 1900 to 9999, UTC
/// only.
Result<TimePoint> parse_iso8601(std::string_view text);

/// Returns the same day and time `months` later (or earlier); clamps to the month's last day.
TimePoint add_months(TimePoint time, int months);

/// Returns the calendar month in UTC: "2005-04".
std::string month_of(TimePoint time);

/// Returns the number of days since 1970-01-01, in UTC, rounded down.
int64_t day_of(TimePoint time);

/// Source of the current time: the wall clock in production, the stream's event time in a replay.
/// Implementations are safe to call from several threads.
class Clock {
  public:
    virtual ~Clock() = default;
    virtual TimePoint now() const = 0;
};

}  // namespace rampart::base
