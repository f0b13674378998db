#include "rampart/serving/event_window.hpp"

#include <gtest/gtest.h>

#include "support/loan_makers.hpp"

namespace rampart::serving {
namespace {

using base::Duration;
using support::day;

const EventWindow kWindow{Duration::days(30), Duration::days(1)};

std::string reason(const base::Status& status) { return status ? "" : status.error().reason; }

TEST(EventWindow, TakesApplicationsFromItsFirstToItsLastMoment) {
    const auto now = day(100);
    const auto at = [&](base::TimePoint time) {
        domain::Application application;
        application.event_time = time;
        return reason(check_event_time(application, now, kWindow));
    };
    EXPECT_EQ(at(day(70)), "");
    EXPECT_EQ(at(day(70) - Duration::micros(1)), "event_time_outside");
    EXPECT_EQ(at(day(101)), "");
    EXPECT_EQ(at(day(101) + Duration::micros(1)), "event_time_outside");
}

TEST(EventWindow, AnOutcomeShowsOnTheDayOfItsDecisionAtTheEarliest) {
    const auto decision = support::make_decision("1", day(50) + Duration::hours(10));
    const auto at = [&](base::TimePoint time) {
        const auto outcome = support::make_outcome("1", "repaid", 0, 1, time);
        return reason(check_observed_at(outcome, decision, day(100), kWindow));
    };
    EXPECT_EQ(at(day(50) - Duration::micros(1)), "observed_before_decision");
    EXPECT_EQ(at(day(50)), "");
    EXPECT_EQ(at(day(101)), "");
    EXPECT_EQ(at(day(101) + Duration::micros(1)), "observed_in_future");
}

TEST(EventWindow, IsReadWithItsLimits) {
    const auto read = [](const std::string& text) {
        auto root = config::parse(text, "x.toml").value();
        const auto window = read_event_window(root.table("event_time"));
        const auto status = root.finish();
        return status ? fmt::format("{} {}", window.max_age.micros() / 86'400'000'000,
                                    window.max_ahead.micros() / 86'400'000'000)
                      : std::string("refused");
    };
    EXPECT_EQ(read(""), "30 1");
    EXPECT_EQ(read("[event_time]\nmax_age_days = 36500\nmax_ahead_days = 0\n"), "36500 0");
    EXPECT_EQ(read("[event_time]\nmax_age_days = 36501\n"), "refused");
    EXPECT_EQ(read("[event_time]\nmax_ahead_days = -1\n"), "refused");
    EXPECT_EQ(read("[event_time]\nmax_days = 1\n"), "refused");
}

}  // namespace
}  // namespace rampart::serving
