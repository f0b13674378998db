#include "rampart/base/clock.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace rampart::base {
namespace {

TimePoint at(std::string_view text) { return parse_iso8601(text).value(); }

TEST(Clock, ReadsAndPrintsIso8601) {
    EXPECT_EQ(at("1970-01-01").micros(), 0);
    EXPECT_EQ(at("2005-04-01T10:20:30Z").micros(), 1112350830LL * 1'000'000);
    EXPECT_EQ(to_iso8601(at("2005-04-01T10:20:30.25Z")), "2005-04-01T10:20:30.250000Z");
    EXPECT_EQ(to_iso8601(at("1969-12-31T23:59:59Z")), "1969-12-31T23:59:59Z");
}

TEST(Clock, RefusesWhatIsNoMomentInUtc) {
    for (const char* text :
         {"", "2005", "2005-13-01", "2005-02-30", "2005-04-01T24:00:00Z", "2005-04-01T10:00:00",
          "2005-04-01T10:00:00+01:00", "2005-04-01T10:00:00.Z", "2005-04-01 ", "1899-12-31",
          "2005-04-01T10:00:00.1234567Z"}) {
        EXPECT_FALSE(parse_iso8601(text)) << text;
    }
}

TEST(Clock, TimesOfRecordsLieInYearsOfFourDigits) {
    EXPECT_EQ(to_iso8601(kFirstTime), "1900-01-01T00:00:00Z");
    EXPECT_EQ(to_iso8601(kLastTime), "9999-12-31T23:59:59.999999Z");
    EXPECT_TRUE(check_time("t", kFirstTime));
    EXPECT_TRUE(check_time("t", kLastTime));
    EXPECT_EQ(check_time("t", kFirstTime - Duration::micros(1)).error().reason, "bad_time");
    EXPECT_EQ(check_time("t", kLastTime + Duration::micros(1)).error().code,
              ErrorCode::kOutOfRange);
}

TEST(Clock, AMonthLaterIsTheSameDayOrTheLastOfTheMonth) {
    EXPECT_EQ(add_months(at("2024-01-31"), 1), at("2024-02-29"));
    EXPECT_EQ(add_months(at("2023-11-30"), 3), at("2024-02-29"));
    EXPECT_EQ(add_months(at("2024-03-31T05:00:00Z"), -1), at("2024-02-29T05:00:00Z"));
    EXPECT_EQ(add_months(at("2022-01-15"), 24), at("2024-01-15"));
}

TEST(Clock, MonthsAndDaysAreThoseOfUtc) {
    EXPECT_EQ(month_of(at("2005-04-30T23:59:59Z")), "2005-04");
    EXPECT_EQ(day_of(at("1970-01-02")), 1);
    EXPECT_EQ(day_of(at("1969-12-31T23:00:00Z")), -1);
}

RC_GTEST_PROP(Clock, PrintingThenReadingGivesTheSameMoment, ()) {
    const auto seconds = *rc::gen::inRange<int64_t>(-2'000'000'000, 4'000'000'000);
    const auto micros = *rc::gen::inRange<int64_t>(0, 1'000'000);
    const auto time = TimePoint::from_micros(seconds * 1'000'000 + micros);
    RC_ASSERT(parse_iso8601(to_iso8601(time)).value() == time);
}

}  // namespace
}  // namespace rampart::base
