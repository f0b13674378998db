#pragma once

#include <optional>
#include <string_view>

#include "rampart/base/result.hpp"

/// Times by which a table is split, and the gap that lets outcomes mature.
namespace rampart::dataset {

/// What the numbers of a time mean.
enum class TimeScale {
    kDates,    // seconds since 1970-01-01 00:00, without a time zone
    kNumbers,  // a number of the table's own: a period, a day count
};

/// Reads a date as seconds since 1970: "2006", "2006-01", "2006-01-31", the last also with
/// " 13:05", "T13:05:59", a fraction of the second and "Z" behind. What is left out is the first:
/// "2006-01" is 2006-01-01 00:00. Years 1000 to 9999. nullopt: it is none.
std::optional<double> parse_date(std::string_view text);

/// Reads a time of the scale. Errors: invalid_argument "bad_split_time", which names the forms.
base::Result<double> parse_split_time(std::string_view text, TimeScale scale);

/// A span between training and what it is judged by.
struct Gap {
    double amount = 0;  // >= 0; at most 1e6 d or w, 12,000 m, 1,000 y
    char unit = 0;      // d, w, m, y: days, weeks, calendar months and years; 0: a plain number
    bool operator==(const Gap&) const = default;
};

/// Reads "3m", "90d", "2w", "1y" (whole amounts) or a number >= 0; "" and "0" are no gap. Errors:
/// invalid_argument "bad_split_gap".
base::Result<Gap> parse_gap(std::string_view text);

/// Moves a time by the gap, `sign` 1: later, -1: earlier. Months and years keep the day of the
/// month, or take its last one: a month after January 31st is the last day of February. Errors:
/// "bad_split_gap" for a unit on numbers, and for a number on dates, but 0.
base::Result<double> moved(double time, const Gap& gap, TimeScale scale, int sign);

}  // namespace rampart::dataset
