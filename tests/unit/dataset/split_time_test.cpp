#include "rampart/dataset/split_time.hpp"

#include <gtest/gtest.h>

#include "rampart/dataset/reasons.hpp"

namespace rampart::dataset {
namespace {

double date(std::string_view text) { return parse_date(text).value_or(-1); }

TEST(SplitTime, ReadsDatesFromTheYearOn) {
    EXPECT_EQ(date("1970"), 0);
    EXPECT_EQ(date("1970-01-02"), 86'400);
    EXPECT_EQ(date("1970-02"), 31 * 86'400);
    EXPECT_EQ(date("2000-02-29"), 951'782'400);
    EXPECT_EQ(date("1970-01-01T01:02:03Z"), 3723);
    EXPECT_EQ(date("1970-01-01 01:02"), 3720);
    EXPECT_DOUBLE_EQ(date("1970-01-01 00:00:00.25"), 0.25);
    EXPECT_LT(date("1969-12-31"), 0);
}

TEST(SplitTime, WhatIsNoDateIsNone) {
    for (const auto* text :
         {"", "206", "0999", "2001-2", "2001-02-29", "2001-13", "2001-00", "2001-01-32", "200601",
          "2001-01-01T", "2001-01T10:00", "2001-01-01 24:00", "2001-01-01 10:60", "2001/01/01",
          "2001-01-01x", "01/02/2006", "2001-01-01 10:00:00.", "2001-01-01 10:00+01:00"})
        EXPECT_FALSE(parse_date(text)) << text;
}

TEST(SplitTime, ATimeOfTheScaleIsReadOrTheFormsAreNamed) {
    EXPECT_EQ(*parse_split_time("12.5", TimeScale::kNumbers), 12.5);
    const auto bad = parse_split_time("12.5", TimeScale::kDates);
    ASSERT_FALSE(bad);
    EXPECT_TRUE(bad.error().is(Reason::kBadSplitTime));
    EXPECT_NE(bad.error().message.find("2006-01"), std::string::npos);
    EXPECT_FALSE(parse_split_time("2006-01", TimeScale::kNumbers));
}

TEST(SplitTime, GapsHaveAUnitOrAreNumbers) {
    EXPECT_EQ(*parse_gap("3m"), (Gap{3, 'm'}));
    EXPECT_EQ(*parse_gap("90d"), (Gap{90, 'd'}));
    EXPECT_EQ(*parse_gap("2.5"), (Gap{2.5, 0}));
    EXPECT_EQ(*parse_gap(""), Gap{});
    EXPECT_EQ(*parse_gap("0m"), Gap{});
    EXPECT_TRUE(parse_gap("1000y"));
    for (const auto* text :
         {"m", "-3m", "1.5m", "3h", "3 months", "1001y", "12001m", "2000000d", "-1", "inf"}) {
        const auto gap = parse_gap(text);
        ASSERT_FALSE(gap) << text;
        EXPECT_TRUE(gap.error().is(Reason::kBadSplitGap));
    }
}

TEST(SplitTime, MonthsAreThoseOfTheCalendar) {
    const auto after = [](std::string_view from, std::string_view gap, int sign) {
        return *moved(date(from), *parse_gap(gap), TimeScale::kDates, sign);
    };
    EXPECT_EQ(after("2006-01-31", "1m", 1), date("2006-02-28"));
    EXPECT_EQ(after("2004-02-29", "1y", 1), date("2005-02-28"));
    EXPECT_EQ(after("2006-03", "3m", -1), date("2005-12"));
    EXPECT_EQ(after("2006-01-31 12:00", "1m", 1), date("2006-02-28 12:00"));
    EXPECT_EQ(after("2006-01", "2w", 1), date("2006-01-15"));
    EXPECT_EQ(after("2006-03-01", "1d", -1), date("2006-02-28"));
    EXPECT_EQ(after("2006-03-01", "0", -1), date("2006-03-01"));
    EXPECT_TRUE(moved(date("9999"), *parse_gap("1000y"), TimeScale::kDates, 1));
}

TEST(SplitTime, AGapFitsTheScale) {
    EXPECT_EQ(*moved(10, *parse_gap("3"), TimeScale::kNumbers, -1), 7);
    EXPECT_TRUE(moved(0, {3, 0}, TimeScale::kDates, 1).error().is(Reason::kBadSplitGap));
    EXPECT_TRUE(moved(0, {3, 'm'}, TimeScale::kNumbers, 1).error().is(Reason::kBadSplitGap));
}

}  // namespace
}  // namespace rampart::dataset
