#include "calendar_numbers.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

namespace chrono = std::chrono;

/// Returns whether a number is a date of the years 1900 to 2199 as YYYYMMDD.
bool is_date(double number) {
    if (!(number >= 19'000'000 && number < 22'000'000) || number != std::floor(number))
        return false;
    const auto digits = static_cast<unsigned>(number);
    return chrono::year_month_day(chrono::year(static_cast<int>(digits / 10'000)),
                                  chrono::month(digits / 100 % 100), chrono::day(digits % 100))
        .ok();
}

/// Returns whether a number is a month of these years as YYYYMM.
bool is_month(double number) {
    return number >= 190'000 && number < 220'000 && is_date(100 * number + 1);
}

}  // namespace

base::Status check_gap_on(const RowKeys& keys, const Gap& gap) {
    const auto& time = keys.time;
    if (!(gap.amount > 0) || keys.scale != TimeScale::kNumbers || time.empty()) return base::ok();
    const bool months = std::all_of(time.begin(), time.end(), is_month);
    if (!months && !std::all_of(time.begin(), time.end(), is_date)) return base::ok();
    return base::make_error(
        Reason::kBadSplitTime,
        "the times are numbers like {:.0f}, which look like {} without hyphens, and a gap of {} "
        "would be taken off their digits; write them like {}, and the gap like 90d or 3m",
        time.front(), months ? "months" : "dates", gap.amount, months ? "2006-01" : "2006-01-31");
}

}  // namespace rampart::dataset
