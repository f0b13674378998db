#include "rampart/report/chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace rampart::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(LineChart, NamesItsSeriesAndMonthsAndLeavesGaps) {
    const LineChart chart{"Approved",
                          "%",
                          {"2005-01", "2005-02", "2005-03"},
                          {{"sex=<female>", {1, std::nan(""), 3}}, {"all", {2, 2, 2}}},
                          {{1, "not all has matured"}}};
    const auto markup = line_chart(chart);
    EXPECT_THAT(markup, HasSubstr("sex=&lt;female&gt;"));
    EXPECT_THAT(markup, HasSubstr("2005-03"));
    EXPECT_THAT(markup, HasSubstr("not all has matured"));
    EXPECT_THAT(markup, HasSubstr("Approved"));
    EXPECT_THAT(markup, Not(HasSubstr("nan")));
}

TEST(LineChart, DrawsAValueBetweenGapsAsADotAndALevelAsALine) {
    const double gap = std::nan("");
    LineChart chart{"Ratio", "", {"1", "2", "3"}, {{"a", {gap, 1, gap}}}, {}};
    EXPECT_THAT(line_chart(chart), HasSubstr("<circle"));
    EXPECT_THAT(line_chart(chart), Not(HasSubstr("mark")));
    chart.level = 0.8;
    EXPECT_THAT(line_chart(chart), HasSubstr("mark"));
    chart.series[0].y = {1, 2, gap};
    EXPECT_THAT(line_chart(chart), Not(HasSubstr("<circle")));
}

TEST(LineChart, OfNothingIsAnEmptyFrame) {
    EXPECT_THAT(line_chart({"Approved", "%", {}, {}, {}}), HasSubstr("<svg"));
}

TEST(IntervalChart, DrawsWhatIsKnown) {
    const double unknown = std::nan("");
    const auto markup =
        interval_chart("Gain", "points",
                       {{"passed", 0.5, 1, unknown, true}, {"failed", -INFINITY, -1, -2, false}});
    EXPECT_THAT(markup, HasSubstr("good"));
    EXPECT_THAT(markup, HasSubstr("bad"));
    EXPECT_THAT(markup, HasSubstr("truth -2"));
    EXPECT_THAT(markup, Not(HasSubstr("nan")));
    EXPECT_THAT(markup, Not(HasSubstr("inf")));
}

}  // namespace
}  // namespace rampart::report
