#include "rampart/base/clock.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "rampart/base/reasons.hpp"

namespace rampart::base {
namespace {

using namespace std::chrono;

constexpr int64_t kMicrosPerDay = 86'400'000'000;

struct Split {
    year_month_day date;
    int64_t micros_of_day;
};

Split split(TimePoint time) {
    const int64_t day = day_of(time);
    return {year_month_day{sys_days{days{day}}}, time.micros() - day * kMicrosPerDay};
}

bool read_digits(std::string_view& text, size_t count, int& value) {
    if (text.size() < count) return false;
    value = 0;
    for (char c : text.substr(0, count)) {
        if (c < '0' || c > '9') return false;
        value = value * 10 + (c - '0');
    }
    text.remove_prefix(count);
    return true;
}

bool read_char(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

bool read_fraction(std::string_view& text, int64_t& micros) {
    micros = 0;
    if (!read_char(text, '.')) return true;
    int64_t unit = 100'000;
    size_t digits = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        micros += (text.front() - '0') * unit;
        unit /= 10;
        text.remove_prefix(1);
        ++digits;
    }
    return digits > 0 && digits <= 6;
}

bool read_time_of_day(std::string_view& text, int64_t& micros) {
    micros = 0;
    if (text.empty()) return true;
    int h = 0, m = 0, s = 0;
    int64_t fraction = 0;
    if (!read_char(text, 'T') || !read_digits(text, 2, h) || !read_char(text, ':') ||
        !read_digits(text, 2, m) || !read_char(text, ':') || !read_digits(text, 2, s) ||
        !read_fraction(text, fraction) || !read_char(text, 'Z')) {
        return false;
    }
    if (h > 23 || m > 59 || s > 59) return false;
    micros = ((h * 60LL + m) * 60 + s) * 1'000'000 + fraction;
    return text.empty();
}

}  // namespace

int64_t day_of(TimePoint time) {
    const int64_t micros = time.micros();
    return micros / kMicrosPerDay - (micros % kMicrosPerDay < 0 ? 1 : 0);
}

Status check_time(std::string_view what, TimePoint time) {
    if (time >= kFirstTime && time <= kLastTime) return ok();
    return make_error(Reason::kBadTimeRange, "{}: {} microseconds is not in the years 1900 to 9999",
                      what, time.micros());
}

std::string to_iso8601(TimePoint time) {
    const auto [date, micros] = split(time);
    const int64_t seconds = micros / 1'000'000, fraction = micros % 1'000'000;
    auto text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                            static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                            seconds / 3600, seconds / 60 % 60, seconds % 60);
    return fraction == 0 ? text + "Z" : text + fmt::format(".{:06}Z", fraction);
}

Result<TimePoint> parse_iso8601(std::string_view text) {
    std::string_view rest = text;
    int y = 0, m = 0, d = 0;
    int64_t micros = 0;
    const bool shape = read_digits(rest, 4, y) && read_char(rest, '-') && read_digits(rest, 2, m) &&
                       read_char(rest, '-') && read_digits(rest, 2, d) &&
                       read_time_of_day(rest, micros);
    const year_month_day date{year{y}, month{static_cast<unsigned>(m)},
                              std::chrono::day{static_cast<unsigned>(d)}};
    if (!shape || !date.ok() || y < 1900) {
        return make_error(Reason::kBadTime, "'{}' is not a time like 2005-04-01T10:00:00Z (UTC)",
                          text.substr(0, 40));
    }
    return TimePoint::from_micros(sys_days{date}.time_since_epoch().count() * kMicrosPerDay +
                                  micros);
}

TimePoint add_months(TimePoint time, int count) {
    const auto [date, micros] = split(time);
    auto moved = date + months{count};
    if (!moved.ok()) moved = moved.year() / moved.month() / last;
    return TimePoint::from_micros(sys_days{moved}.time_since_epoch().count() * kMicrosPerDay +
                                  micros);
}

std::string month_of(TimePoint time) {
    const auto date = split(time).date;
    return fmt::format("{:04}-{:02}", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()));
}

}  // namespace rampart::base
