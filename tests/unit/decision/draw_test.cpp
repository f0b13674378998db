#include "rampart/decision/draw.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <set>

#include "policies.hpp"

namespace rampart::decision {
namespace {

using base::Duration;
using base::TimePoint;

const DrawKey kKey{"key-1", "a secret"};

TimePoint time(const char* text) { return base::parse_iso8601(text).value(); }
domain::PersonId person(int number) { return domain::PersonId(fmt::format("p-{}", number)); }

int64_t number_at(const domain::PersonId& who, int days, TimePoint now) {
    return draw_window(kKey, who, {"card", days}, now).number;
}

TEST(Draw, IsThatOfOtherCodeBitForBit) {
    // computed with Python's hmac and struct
    const auto month = draw_window(kKey, person(1), {"card", 30}, time("2005-04-02"));
    EXPECT_EQ(month, (domain::DrawWindow{"card", 30, 429}));
    EXPECT_EQ(window_draw(kKey, person(1), month), 0.7378539960589464);
    const auto week = draw_window(kKey, person(1), {"card", 7}, time("2005-04-02"));
    EXPECT_EQ(week, (domain::DrawWindow{"card", 7, 1839}));
    EXPECT_EQ(window_draw(kKey, person(1), week), 0.9502657822467384);
    const auto early = draw_window(kKey, person(1), {"card", 30}, time("1950-01-01"));
    EXPECT_EQ(early.number, -244);
    EXPECT_EQ(window_draw(kKey, person(1), early), 0.638335140485348);
    EXPECT_EQ(draw_by_id(kKey, domain::decision_id_of(domain::ApplicationId("a-1"))),
              0.09171757059668983);
}

TEST(Draw, AWindowHasTheLengthOfTheCoolOffToTheMicrosecond) {
    for (const int days : {1, 30, domain::kMaxCoolOffDays}) {
        // 626500316101 microseconds of a window of 30 days had passed at 1970-01-01
        const auto offset = Duration::micros(626'500'316'101 / 30 * days);
        const auto near = TimePoint::from_micros(0) + Duration::days(days) - offset;
        const auto little = Duration::micros(1000);
        const int64_t before = number_at(person(1), days, near - little);
        EXPECT_EQ(before, 0) << days;
        EXPECT_EQ(number_at(person(1), days, near + little), 1) << days;
        EXPECT_EQ(number_at(person(1), days, near - Duration::days(days) + little), 0) << days;
        EXPECT_EQ(number_at(person(1), days, near - Duration::days(days) - little), -1) << days;
    }
    const auto begin =
        TimePoint::from_micros(0) + Duration::days(30) - Duration::micros(626'500'316'101);
    EXPECT_EQ(number_at(person(1), 30, begin - Duration::micros(1)), 0);
    EXPECT_EQ(number_at(person(1), 30, begin), 1);
    EXPECT_EQ(number_at(person(1), 30, begin + Duration::days(30) - Duration::micros(1)), 1);
    EXPECT_EQ(number_at(person(1), 30, begin + Duration::days(30)), 2);
}

TEST(Draw, WindowsOfDifferentPersonsBeginAtDifferentTimes) {
    constexpr int kPersons = 2000;
    std::array<int, 30> begun{};  // by day
    for (int i = 0; i < kPersons; ++i) {
        const auto who = person(i);
        size_t day = 0;
        for (auto t = time("2005-04-01");
             number_at(who, 30, t) == number_at(who, 30, t + Duration::days(1));
             t = t + Duration::days(1)) {
            ++day;
        }
        ASSERT_LT(day, begun.size());
        ++begun[day];
    }
    double chi_square = 0;
    const double expected = kPersons / 30.0;
    for (const int n : begun) chi_square += (n - expected) * (n - expected) / expected;
    EXPECT_LT(chi_square, 29 + 4 * std::sqrt(2 * 29.0));
    const DrawKey other{"key-2", "another secret"};
    int moved = 0;
    for (int i = 0; i < 100; ++i) {
        const auto t = time("2005-04-01");
        moved +=
            draw_window(other, person(i), {"card", 30}, t).number != number_at(person(i), 30, t);
    }
    EXPECT_GT(moved, 20) << "who has not the key cannot tell when a window begins";
}

TEST(Draw, EveryPartOfTheWindowAndEveryPersonHasADrawOfItsOwn) {
    const auto draw = [](const char* who, const char* product, int days, int64_t number) {
        return window_draw(kKey, domain::PersonId(who), {product, days, number});
    };
    const std::set<double> draws{draw("ab", "c", 30, 5), draw("a", "bc", 30, 5),
                                 draw("ab", "d", 30, 5), draw("ab", "c", 31, 5),
                                 draw("ab", "c", 30, 6), draw("ab", "c", 30, -5)};
    EXPECT_EQ(draws.size(), 6u);
    EXPECT_EQ(draw("ab", "c", 30, 5), draw("ab", "c", 30, 5));
}

TEST(Draw, IsUniformAndThatOfTheNextWindowTellsNothingOfIt) {
    constexpr int kPersons = 20'000;
    double sum = 0, product = 0;
    for (int i = 0; i < kPersons; ++i) {
        const double first = window_draw(kKey, person(i), {"card", 30, 1}) - 0.5;
        sum += first;
        product += first * (window_draw(kKey, person(i), {"card", 30, 2}) - 0.5);
    }
    const double deviation = std::sqrt(kPersons / 12.0);
    EXPECT_LT(std::abs(sum), 4 * deviation);
    EXPECT_LT(std::abs(product), 4 * deviation / std::sqrt(12.0));
}

RC_GTEST_PROP(Draw, AWindowHoldsItsTimeSoThatTheDecisionIsValid, (int number)) {
    const auto days = *rc::gen::inRange(1, domain::kMaxCoolOffDays + 1);
    const auto now = TimePoint::from_micros(
        *rc::gen::inRange(base::kFirstTime.micros(), base::kLastTime.micros()));
    domain::Decision decision;
    decision.application = testing::sample_application();
    decision.application.person = person(number);
    decision.id = domain::decision_id_of(decision.application.id);
    decision.decided_at = now;
    decision.policy = domain::PolicyId("p");
    decision.draw_key_id = kKey.id;
    decision.draw_window = draw_window(kKey, person(number), {"card", days}, now);
    RC_ASSERT(domain::validate(decision).has_value());
    const auto later = now + Duration::days(days);
    RC_ASSERT(number_at(person(number), days, later) == decision.draw_window->number + 1);
}

}  // namespace
}  // namespace rampart::decision
