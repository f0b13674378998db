#include "rampart/data_profile/periods.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rampart/data_profile/reasons.hpp"

namespace rampart::data_profile {
namespace {

using dataset::TimeScale;
using testing::ElementsAre;

std::vector<double> dates(const std::vector<std::string>& texts) {
    std::vector<double> times;
    for (const auto& text : texts) times.push_back(dataset::parse_date(text).value());
    return times;
}

TEST(Periods, AreMonthsQuartersAndYearsWithoutAHole) {
    const auto time = dates({"2006-11-30", "2007-02-01", "2006-12-31 23:59:59", "2007-01-31"});
    const auto months = periods_of(time, TimeScale::kDates, "month").value();
    EXPECT_THAT(months.names, ElementsAre("2006-11", "2006-12", "2007-01", "2007-02"));
    EXPECT_THAT(months.of_row, ElementsAre(0, 3, 1, 2));
    const auto quarters = periods_of(time, TimeScale::kDates, "quarter").value();
    EXPECT_THAT(quarters.names, ElementsAre("2006 Q4", "2007 Q1"));
    EXPECT_THAT(quarters.of_row, ElementsAre(0, 1, 0, 1));
    EXPECT_THAT(periods_of(time, TimeScale::kDates, "year")->names, ElementsAre("2006", "2007"));
    EXPECT_THAT(periods_of(dates({"1968-02-29", "1970-01-01"}), TimeScale::kDates, "year")->names,
                ElementsAre("1968", "1969", "1970"));
}

TEST(Periods, TheShortestThatIsEasilyRead) {
    const auto count = [](const std::string& last) {
        return periods_of(dates({"2000-01-01", last}), TimeScale::kDates, "")->names.size();
    };
    EXPECT_EQ(count("2004-12-31"), 60u) << "months";
    EXPECT_EQ(count("2005-01-01"), 21u) << "quarters";
    EXPECT_EQ(count("2014-12-31"), 60u);
    EXPECT_EQ(count("2015-01-01"), 16u) << "years";
    EXPECT_EQ(count("2119-01-01"), 120u);
    const auto more = periods_of(dates({"2000-01-01", "2120-01-01"}), TimeScale::kDates, "");
    ASSERT_FALSE(more);
    EXPECT_TRUE(more.error().is(Reason::kBadProfilePeriod));
}

TEST(Periods, OfNumbers) {
    const std::vector<double> whole{3, 1, 4}, others{0, 2.5, 10};
    const auto each = periods_of(whole, TimeScale::kNumbers, "").value();
    EXPECT_THAT(each.names, ElementsAre("1", "2", "3", "4"));
    EXPECT_THAT(each.of_row, ElementsAre(2, 0, 3));
    const auto cut = periods_of(others, TimeScale::kNumbers, "").value();
    ASSERT_EQ(cut.names.size(), kNumberPeriods);
    EXPECT_EQ(cut.names[1], "0.5 to 1");
    EXPECT_THAT(cut.of_row, ElementsAre(0, 5, 19));
    const std::vector<double> wide{0, 120}, same{7.5, 7.5};
    EXPECT_EQ(periods_of(wide, TimeScale::kNumbers, "")->names.size(), kNumberPeriods);
    EXPECT_THAT(periods_of(same, TimeScale::kNumbers, "")->of_row, ElementsAre(0, 0));
    EXPECT_TRUE(periods_of({}, TimeScale::kNumbers, "")->names.empty());
}

TEST(Periods, WhatIsNoPeriodIsRefused) {
    const std::vector<double> numbers{1, 2};
    for (const auto& wrong : {periods_of(dates({"2006"}), TimeScale::kDates, "week"),
                              periods_of(numbers, TimeScale::kNumbers, "month"),
                              periods_of(dates({"2000", "2020"}), TimeScale::kDates, "month")}) {
        ASSERT_FALSE(wrong);
        EXPECT_TRUE(wrong.error().is(Reason::kBadProfilePeriod)) << wrong.error().message;
    }
}

}  // namespace
}  // namespace rampart::data_profile
