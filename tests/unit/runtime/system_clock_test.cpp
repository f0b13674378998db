#include "rampart/runtime/system_clock.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace rampart::runtime {
namespace {

using base::TimePoint;

TEST(SystemClock, TellsTodaysTime) {
    const auto now = SystemClock().now();
    EXPECT_GT(now, base::parse_iso8601("2024-01-01").value());
    EXPECT_LE(now, SystemClock().now());
}

TEST(BootClock, GoesOnFromTheStartOfTheHost) {
    const auto first = BootClock().now();
    EXPECT_GT(first, TimePoint());
    EXPECT_LT(first, base::parse_iso8601("2005-01-01").value()) << "35 years without a restart";
    const auto later = BootClock().now();
    EXPECT_LE(first, later);
}

TEST(ManualClock, StandsUntilItIsMoved) {
    ManualClock clock(TimePoint::from_micros(5));
    EXPECT_EQ(clock.now().micros(), 5);
    clock.advance_to(TimePoint::from_micros(7));
    EXPECT_EQ(clock.now().micros(), 7);
}

TEST(ManualClock, NeverGoesBack) {
    ManualClock clock(TimePoint::from_micros(5));
    clock.advance_to(TimePoint::from_micros(4));
    EXPECT_EQ(clock.now().micros(), 5);
}

TEST(ManualClock, EndsAtTheLatestTimeWhoeverMovesIt) {
    ManualClock clock(TimePoint::from_micros(0));
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&clock, t] {
            for (int i = 0; i < 1000; ++i) clock.advance_to(TimePoint::from_micros(4 * i + t));
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(clock.now().micros(), 4 * 999 + 3);
}

}  // namespace
}  // namespace rampart::runtime
