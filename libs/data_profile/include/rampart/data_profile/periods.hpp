#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rampart/base/result.hpp"
#include "rampart/dataset/split_time.hpp"

namespace rampart::data_profile {

inline constexpr size_t kMaxPeriods = 120;
inline constexpr size_t kNumberPeriods = 20;  // into which a time of many numbers is cut

/// Periods of a table in the order of time, without a hole between the first and the last.
struct Periods {
    std::vector<uint32_t> of_row;    // [n] index into names
    std::vector<std::string> names;  // "2006-01", "2006 Q1", "2006", "12", "100 to 120"
};

/// Cuts the rows' times into periods. Dates: `unit` is "month", "quarter", "year", or empty: the
/// shortest of them with at most 60 periods, else years. Numbers (`unit` is empty): each whole
/// number, where all times are whole and span at most kMaxPeriods, else kNumberPeriods of equal
/// length. Without rows: no periods. Errors: "bad_profile_period" for another unit, or more
/// than kMaxPeriods periods.
base::Result<Periods> periods_of(std::span<const double> time, dataset::TimeScale scale,
                                 std::string_view unit);

}  // namespace rampart::data_profile
