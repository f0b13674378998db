#include "rampart/data_profile/periods.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "rampart/data_profile/reasons.hpp"

namespace rampart::data_profile {
namespace {

using base::Result;

constexpr size_t kEasilyRead = 60;

/// Returns the number of months from the year 0 to a date.
int64_t month_of(double seconds) {
    const auto days = static_cast<int>(std::floor(seconds / 86'400));
    const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
    return int64_t{int(date.year())} * 12 + unsigned(date.month()) - 1;
}

/// A unit of the calendar.
struct Unit {
    std::string_view name;
    int64_t months;
    std::string text(int64_t index) const {
        const int64_t month = index * months;
        if (months == 12) return fmt::format("{:04}", month / 12);
        if (months == 3) return fmt::format("{:04} Q{}", month / 12, month % 12 / 3 + 1);
        return fmt::format("{:04}-{:02}", month / 12, month % 12 + 1);
    }
};
constexpr Unit kUnits[] = {{"month", 1}, {"quarter", 3}, {"year", 12}};

base::Error too_many(std::string_view unit, int64_t count) {
    return base::make_error(Reason::kBadProfilePeriod,
                            "the table spans {} periods by {}; at most {}", count, unit,
                            kMaxPeriods);
}

Result<Periods> by_calendar(std::span<const double> time, std::string_view unit) {
    const auto [first, last] = std::minmax_element(time.begin(), time.end());
    const auto from = month_of(*first), to = month_of(*last);
    const Unit* chosen = nullptr;
    for (const auto& one : kUnits) {
        const auto count = static_cast<size_t>(to / one.months - from / one.months + 1);
        if (unit == one.name || (unit.empty() && (count <= kEasilyRead || one.months == 12))) {
            chosen = &one;
            break;
        }
    }
    if (chosen == nullptr)
        return base::make_error(Reason::kBadProfilePeriod, "there is no period '{}'", unit);
    const auto begin = from / chosen->months, end = to / chosen->months;
    if (end - begin >= static_cast<int64_t>(kMaxPeriods))
        return too_many(chosen->name, end - begin + 1);
    Periods periods;
    for (auto k = begin; k <= end; ++k) periods.names.push_back(chosen->text(k));
    for (const double one : time)
        periods.of_row.push_back(static_cast<uint32_t>(month_of(one) / chosen->months - begin));
    return periods;
}

Periods by_numbers(std::span<const double> time) {
    const auto [first, last] = std::minmax_element(time.begin(), time.end());
    const double from = *first, to = *last;
    const bool whole =
        std::all_of(time.begin(), time.end(), [](double one) { return one == std::floor(one); }) &&
        to - from < double(kMaxPeriods);
    const size_t count = whole ? static_cast<size_t>(to - from) + 1 : kNumberPeriods;
    const double length = whole ? 1 : (to - from) / double(count);
    Periods periods;
    for (size_t k = 0; k < count; ++k) {
        const double start = from + double(k) * length;
        periods.names.push_back(whole ? fmt::format("{}", start)
                                      : fmt::format("{:.6g} to {:.6g}", start, start + length));
    }
    for (const double one : time) {
        const double k = length > 0 ? std::floor((one - from) / length) : 0;
        periods.of_row.push_back(
            static_cast<uint32_t>(std::clamp(k, 0.0, static_cast<double>(count - 1))));
    }
    return periods;
}

}  // namespace

Result<Periods> periods_of(std::span<const double> time, dataset::TimeScale scale,
                           std::string_view unit) {
    if (time.empty()) return Periods{};
    if (scale == dataset::TimeScale::kDates) return by_calendar(time, unit);
    if (!unit.empty())
        return base::make_error(Reason::kBadProfilePeriod,
                                "period '{}': the times are numbers and no dates, so they have no "
                                "calendar",
                                unit);
    return by_numbers(time);
}

}  // namespace rampart::data_profile
