#include "rampart/dataset/split_time.hpp"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>

#include "rampart/dataset/reasons.hpp"
#include "rampart/dataset/text.hpp"

namespace rampart::dataset {
namespace {

namespace chrono = std::chrono;

constexpr double kDay = 86'400;
/// Returns the largest amount of a unit: dates stay within what a calendar can say.
double most_of(char unit) { return unit == 'y' ? 1000 : unit == 'm' ? 12'000 : 1e6; }

/// Takes exactly `digits` digits off the text; nullopt: they are not there.
std::optional<int> take_digits(std::string_view& text, size_t digits) {
    if (text.size() < digits) return std::nullopt;
    int value = 0;
    for (const char c : text.substr(0, digits)) {
        if (c < '0' || c > '9') return std::nullopt;
        value = 10 * value + (c - '0');
    }
    text.remove_prefix(digits);
    return value;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

/// Reads "13:05", "13:05:59", "13:05:59.25", each also with Z, as seconds.
std::optional<double> time_of_day(std::string_view text) {
    const auto hour = take_digits(text, 2);
    if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
    const auto minute = take_digits(text, 2);
    if (!minute || *minute > 59) return std::nullopt;
    double seconds = 3600.0 * *hour + 60.0 * *minute;
    if (take(text, ':')) {
        const auto second = take_digits(text, 2);
        if (!second || *second > 59) return std::nullopt;
        seconds += *second;
        if (take(text, '.')) {
            double place = 0.1;
            if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
            for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; place /= 10)
                seconds += place * (text.front() - '0'), text.remove_prefix(1);
        }
    }
    take(text, 'Z');
    return text.empty() ? std::optional(seconds) : std::nullopt;
}

double seconds_of(chrono::year_month_day date) {
    return kDay * static_cast<double>(chrono::sys_days(date).time_since_epoch().count());
}

/// Adds calendar months; a day that the month does not have becomes its last one.
double plus_months(double time, int months) {
    const double days = std::floor(time / kDay);
    chrono::year_month_day date{
        chrono::sys_days(chrono::days(static_cast<chrono::days::rep>(days)))};
    date += chrono::months(months);
    if (!date.ok()) date = date.year() / date.month() / chrono::last;
    return seconds_of(date) + (time - kDay * days);
}

base::Error bad_gap(std::string_view text) {
    return base::make_error(Reason::kBadSplitGap,
                            "gap '{}': give days, weeks, months or years, like 90d, 2w, 3m or 1y, "
                            "or a number where times are numbers",
                            text.substr(0, 80));
}

}  // namespace

std::optional<double> parse_date(std::string_view text) {
    const auto year = take_digits(text, 4);
    if (!year || *year < 1000) return std::nullopt;
    unsigned month = 1, day = 1;
    bool whole = false;
    if (take(text, '-')) {
        const auto read = take_digits(text, 2);
        if (!read) return std::nullopt;
        month = static_cast<unsigned>(*read);
        if (take(text, '-')) {
            const auto read_day = take_digits(text, 2);
            if (!read_day) return std::nullopt;
            day = static_cast<unsigned>(*read_day);
            whole = true;
        }
    }
    const chrono::year_month_day date{chrono::year(*year), chrono::month(month), chrono::day(day)};
    if (!date.ok()) return std::nullopt;
    if (text.empty()) return seconds_of(date);
    if (!whole || !(take(text, 'T') || take(text, ' '))) return std::nullopt;
    const auto clock = time_of_day(text);
    if (!clock) return std::nullopt;
    return seconds_of(date) + *clock;
}

base::Result<double> parse_split_time(std::string_view text, TimeScale scale) {
    const auto time = scale == TimeScale::kDates ? parse_date(text) : parse_number(text);
    if (time) return *time;
    return base::make_error(Reason::kBadSplitTime, "time '{}': {}", text.substr(0, 80),
                            scale == TimeScale::kDates
                                ? "the column has dates: give one like 2006, 2006-01 or 2006-01-31"
                                : "the column has numbers: give one");
}

base::Result<Gap> parse_gap(std::string_view text) {
    if (text.empty()) return Gap{};
    Gap gap;
    std::string_view amount = text;
    if (std::string_view("dwmy").find(text.back()) != std::string_view::npos) {
        gap.unit = text.back();
        amount.remove_suffix(1);
    }
    const auto number = parse_number(amount);
    if (!number || !(*number >= 0)) return bad_gap(text);
    if (gap.unit != 0 && (*number != std::floor(*number) || *number > most_of(gap.unit)))
        return bad_gap(text);
    gap.amount = *number;
    if (gap.amount == 0) gap.unit = 0;
    return gap;
}

base::Result<double> moved(double time, const Gap& gap, TimeScale scale, int sign) {
    if (gap.amount == 0) return time;
    if ((gap.unit != 0) != (scale == TimeScale::kDates))
        return base::make_error(Reason::kBadSplitGap, "gap {}{}: the times are {}", gap.amount,
                                gap.unit == 0 ? std::string() : std::string(1, gap.unit),
                                scale == TimeScale::kDates
                                    ? "dates: give a unit, like 90d, 2w, 3m or 1y"
                                    : "numbers: give a number without a unit");
    const double amount = sign * gap.amount;
    switch (gap.unit) {
        case 'd':
            return time + kDay * amount;
        case 'w':
            return time + 7 * kDay * amount;
        case 'm':
            return plus_months(time, static_cast<int>(amount));
        case 'y':
            return plus_months(time, static_cast<int>(12 * amount));
        default:
            return time + amount;
    }
}

}  // namespace rampart::dataset
